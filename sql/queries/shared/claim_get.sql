-- SPDX-License-Identifier: Apache-2.0
select largesse.claim_get($1::bigint, $2::bigint)
