-- SPDX-License-Identifier: Apache-2.0
select moved, version, provider, is_paused, breaker, breaker_left_ms, is_forced, is_probe_mine, concurrency, rate_micro, live, place
  from largesse.provider_breaker($1::text, $2::text, $3::text, $4::bigint * interval '1 microsecond', $5::bigint * interval '1 microsecond', $6::text)
