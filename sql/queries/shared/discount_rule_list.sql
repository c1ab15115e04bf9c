-- SPDX-License-Identifier: Apache-2.0
select id, doc from largesse.discount_rule_list($1::text, $2::int)
