-- SPDX-License-Identifier: Apache-2.0
select largesse.discount_rule_json($1::text)
