-- SPDX-License-Identifier: Apache-2.0
with n as materialized (select largesse.clock_now() as at)
select n.at, c.id, c.code, c.status, c.start_at, c.end_at, c.reward_code, c.provider, c.remaining,
       c.kind, c.payment_provider, c.intake, c.rate_limit::text, c.segments, c.waiting, c.waiting_max, c.has_rules
  from n left join largesse.activity_cache_find($1::text[]) c on true
