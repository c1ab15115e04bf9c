-- SPDX-License-Identifier: Apache-2.0
select activity_id, activity_code, biz_id, user_id, quantity, trace, queued_at, verdict, claim_id, status, provider
  from largesse.claim_queue_step($1::int, $2::interval)
