-- SPDX-License-Identifier: Apache-2.0
-- Lines about a claim in other statements than the one in hand are found by the index alone: each line asks for them.

create index statement_line_of_claim on largesse.statement_line (activity_id, claim_id, statement_id) where claim_id is not null;
drop index largesse.statement_line_by_claim;
