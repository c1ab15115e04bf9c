-- SPDX-License-Identifier: Apache-2.0
with n as materialized (select largesse.clock_now() as at)
select n.at, c.id, c.code, c.status, c.start_at, c.end_at, c.reward_code, c.provider, c.remaining
  from n left join largesse.activity_cache_find($1::text[]) c on true
