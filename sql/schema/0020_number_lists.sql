-- SPDX-License-Identifier: Apache-2.0
-- Pages of numbers that are held or sold: a few among a million that are free, or the other way round.
create index activity_number_taken_in_order on largesse.activity_number (activity_id, status, number) where claim_id is not null;
