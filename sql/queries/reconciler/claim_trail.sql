-- SPDX-License-Identifier: Apache-2.0
select largesse.claim_trail($1::bigint, $2::bigint, $3::int)
