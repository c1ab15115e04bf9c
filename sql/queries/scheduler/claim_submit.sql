-- SPDX-License-Identifier: Apache-2.0
select ord, verdict, claim_id, status, at, detail
  from largesse.claim_submit($1::bigint, $2::text[], $3::bigint[], $4::int[], $5::text[], $6::interval, $7::int[], $8::bigint[], null, $9::int)
