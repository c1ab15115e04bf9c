-- SPDX-License-Identifier: Apache-2.0
select activity_id, claim_id, status, under_review
  from largesse.claim_settle($1::bigint[], $2::bigint[], $3::int[], $4::text[], $5::text[], $6::int[], $7::text[], $8::text[], $9::text[],
                             $10::timestamptz[], $11::bigint[], $12::bigint[], $13::text[], $14::bigint[])
