-- SPDX-License-Identifier: Apache-2.0
with n as materialized (select largesse.clock_now() as at)
select n.at, s.activity_id, s.claim_id, s.attempt, s.provider
  from n left join largesse.claim_sweep($1::int, $2::timestamptz, $3::interval, $4::text[]) s on true
 order by s.provider, s.activity_id, s.claim_id
