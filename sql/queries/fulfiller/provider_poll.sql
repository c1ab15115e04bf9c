-- SPDX-License-Identifier: Apache-2.0
select version, provider, is_paused, breaker, breaker_left_ms, is_forced, is_probe_mine, concurrency, rate_micro, live, place
  from largesse.provider_poll($1::text, $2::text[])
