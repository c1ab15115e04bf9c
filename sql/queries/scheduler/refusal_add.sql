-- SPDX-License-Identifier: Apache-2.0
select largesse.refusal_add($1::bigint[], $2::text[], $3::bigint[])
