-- SPDX-License-Identifier: Apache-2.0
select p.outcome, largesse.reward_json(case when p.outcome is not null then $1::text end)
  from largesse.reward_put($1::text, $2::text, $3::bigint, $4::text, $5::jsonb, $6::text, $7::text) as p(outcome)
