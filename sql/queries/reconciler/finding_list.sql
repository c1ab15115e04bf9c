-- SPDX-License-Identifier: Apache-2.0
select place, doc from largesse.finding_list($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::int)
