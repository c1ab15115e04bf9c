-- SPDX-License-Identifier: Apache-2.0
select verdict, detail from largesse.claim_explain($1::text, $2::bigint, $3::text, $4::int, $5::text, $6::bigint[], $7::timestamptz)
