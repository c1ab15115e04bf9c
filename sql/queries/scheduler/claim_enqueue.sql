-- SPDX-License-Identifier: Apache-2.0
select ord, verdict, claim_id, status, at, detail
  from largesse.claim_enqueue($1::bigint, $2::text[], $3::bigint[], $4::int[], $5::text[], $6::int[], $7::bigint[], $8::text[], $9::bigint, $10::boolean)
