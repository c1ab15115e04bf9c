-- SPDX-License-Identifier: Apache-2.0
-- Providers that are paused, or whose breaker waits, are held back like those whose lanes are full: their messages are in the queue already.
with n as materialized (select largesse.clock_now() as at, largesse.provider_held() as held)
select n.at, s.activity_id, s.claim_id, s.attempt, s.provider, n.held <> '{}' as is_any_held
  from n left join largesse.claim_sweep($1::int, $2::timestamptz, $3::interval, $4::text[] || n.held) s on true
 order by s.provider, s.activity_id, s.claim_id
