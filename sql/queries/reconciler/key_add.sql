-- SPDX-License-Identifier: Apache-2.0
select outcome, detail from largesse.key_add($1::text, $2::text, $3::bytea, $4::text[], $5::timestamptz, $6::text, $7::text)
