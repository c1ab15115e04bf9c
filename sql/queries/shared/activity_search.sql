-- SPDX-License-Identifier: Apache-2.0
select key, doc from largesse.activity_search($1::text, coalesce($2::text, 'code'), $3::text, $4::text, $5::text, $6::text, $7::int)
