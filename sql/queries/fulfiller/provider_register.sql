-- SPDX-License-Identifier: Apache-2.0
select version, provider, is_paused, breaker, breaker_left_ms, is_forced, is_probe_mine, concurrency, rate_micro, live, place
  from largesse.provider_register($1::text, $2::text[], $3::int[], ($4::text[])::numeric[], $5::boolean[], $6::boolean[], $7::boolean[])
