-- SPDX-License-Identifier: Apache-2.0
select activity_id, claim_id, status, under_review, review_cause
  from largesse.claim_settle($1::bigint[], $2::bigint[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[], $10::text[],
                             $11::text[], $12::timestamptz[], $13::bigint[], $14::bigint[], $15::text[], $16::bigint[], $17::text[], $18::text[], $19::jsonb,
                             $20::text[]::uuid[], $21::text[])
