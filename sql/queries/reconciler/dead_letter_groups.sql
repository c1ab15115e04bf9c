-- SPDX-License-Identifier: Apache-2.0
select place, doc from largesse.dead_letter_groups($1::text, $2::text, $3::text, $4::text, $5::text, $6::bigint, $7::int)
