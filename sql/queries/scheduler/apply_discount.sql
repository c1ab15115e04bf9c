-- SPDX-License-Identifier: Apache-2.0
-- discount_rule_json is volatile: it sees what discount_rule_put has just written.
select p.outcome, p.detail, largesse.discount_rule_json(case when p.version is not null then $1::jsonb ->> 'id' end)
  from largesse.discount_rule_put($1::jsonb, $2::text, $3::text) p
