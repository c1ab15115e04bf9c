-- SPDX-License-Identifier: Apache-2.0
select activity_id, claim_id, attempt, tries, doing, user_id, quantity, biz_id, channel, activity_code, reward_code, amount, currency, params,
       created_at, wanted_at as pending_since, trust_in_ms, provider_ref, replace(trace::text, '-', ''), may_act, hold_until, may_close
  from largesse.claim_take($1::bigint[], $2::bigint[], $3::int[], $4::bigint * interval '1 microsecond', $5::bigint * interval '1 microsecond', $6::text,
                           $7::text[]::uuid[])
