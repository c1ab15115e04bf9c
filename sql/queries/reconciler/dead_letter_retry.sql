-- SPDX-License-Identifier: Apache-2.0
select letter_id, claim_ref, outcome
  from largesse.dead_letter_retry_where($1::bigint[], $2::text, $3::text, $4::text, $5::bigint, $6::int, $7::text, $8::text, $9::boolean)
