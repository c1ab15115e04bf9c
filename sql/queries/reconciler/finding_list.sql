-- SPDX-License-Identifier: Apache-2.0
select key, doc from largesse.finding_list($1::text, $2::text, $3::text, $4::text, $5::int)
