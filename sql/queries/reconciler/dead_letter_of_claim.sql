-- SPDX-License-Identifier: Apache-2.0
select largesse.dead_letter_of_claim($1::bigint, $2::bigint)
