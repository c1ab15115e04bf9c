-- SPDX-License-Identifier: Apache-2.0
-- How often taking a delivery back was tried. Parameters: the claim. Result: the number. Locks: none. Errors: none.
create or replace function largesse.claim_reversal_attempts(i_activity_id bigint, i_claim_id bigint) returns bigint
language sql stable
as $$
  select count(*) from largesse.attempt t where t.activity_id = i_activity_id and t.claim_id = i_claim_id and t.step in ('reverse', 'inquire_reverse')
$$;

-- A claim from what was looked up already, as compact JSON. Put together from texts, since thousands of claims a second are told about: building it with the
-- JSON functions costs four times as much, and a query inside would keep the planner from putting it in line. What comes from outside goes through to_json;
-- codes and states are held to safe letters by their CHECKs. A member without a value is left out: format() prints nothing for null.
-- Parameters: the row; the codes; i_reversal_attempts is evaluated only for claims with a reversal. Result: JSON text. Locks, errors: none.
create or replace function largesse.claim_doc(i_claim largesse.claim, i_activity_code text, i_reward_code text, i_reversal_attempts bigint) returns text
language sql stable
as $$
  select format('{"claimId":"%s-%s"%s,"userId":"%s","bizId":%s,"status":"%s"%s,"quantity":%s%s%s,"createdAt":"%s","updatedAt":"%s"%s%s%s%s%s%s%s%s}',
    i_claim.activity_id, i_claim.id,
    ',"activityCode":"' || i_activity_code || '"',
    i_claim.user_id, to_json(i_claim.biz_id), i_claim.status,
    ',"rewardCode":"' || i_reward_code || '"',
    i_claim.quantity,
    ',"numbers":' || array_to_json(i_claim.numbers)::text,
    ',"channel":' || to_json(i_claim.channel)::text,
    largesse.time_text(i_claim.created_at), largesse.time_text(i_claim.updated_at),
    case when i_claim.deadline is not null then case i_claim.status
      when 'held' then ',"holdUntil":"' || largesse.time_text(i_claim.deadline) || '"'
      when 'offered' then ',"acceptUntil":"' || largesse.time_text(i_claim.deadline) || '"' end end,
    ',"points":' || i_claim.points,
    case when i_claim.payment is not null then format(',"payment":{"requestId":"%s-%s-p"%s,"status":"%s"%s%s}', i_claim.activity_id, i_claim.id,
      ',"url":' || to_json(i_claim.payment_url)::text, i_claim.payment,
      ',"ref":' || to_json(i_claim.payment_ref)::text,
      ',"closedAt":"' || largesse.time_text(i_claim.payment_closed_at) || '"') end,
    case when i_claim.step is not null and (i_claim.status = 'issuing' or i_claim.step not in ('charge', 'inquire_charge', 'refund', 'inquire_refund')) then format(',"delivery":{"attempts":%s%s%s%s}', i_claim.attempts,
      -- While somebody works on it, nobody else looks.
      ',"nextAttemptAt":"' || largesse.time_text(greatest(i_claim.next_attempt_at, i_claim.lease_until)) || '"',
      ',"outcome":"' || i_claim.outcome || '"',
      ',"ref":' || to_json(i_claim.provider_ref)::text) end,
    case when i_claim.reversal is not null then format(',"reversal":{"status":"%s"%s%s%s}', i_claim.reversal,
      ',"attempts":' || i_reversal_attempts,
      ',"since":"' || largesse.time_text(i_claim.reversal_since) || '"',
      ',"doneAt":"' || largesse.time_text(i_claim.reversed_at) || '"') end,
    case when i_claim.review_since is not null then format(',"review":{%s"since":"%s"}',
      '"cause":' || to_json(i_claim.review_cause)::text || ',', largesse.time_text(i_claim.review_since)) end,
    case when i_claim.failure_code is not null then format(',"failure":{"code":%s%s}', to_json(i_claim.failure_code)::text,
      ',"detail":' || to_json(i_claim.failure_detail)::text) end,
    case when i_claim.refund is not null then format(',"refund":{"requestId":"%s-%s-f","status":"%s","since":"%s"%s}', i_claim.activity_id, i_claim.id, i_claim.refund,
      largesse.time_text(i_claim.refund_since), ',"doneAt":"' || largesse.time_text(i_claim.refunded_at) || '"') end)
$$;

-- A claim as every answer and event shows it.
-- Parameters: i_claim (the row), i_activity_code. Result: JSON text. Locks: none. Errors: none.
create or replace function largesse.claim_json(i_claim largesse.claim, i_activity_code text) returns text
language plpgsql stable
set plan_cache_mode = force_generic_plan  -- making the plan costs more than all the rest
as $$
declare
  v_reward_code text;
  v_reversals   bigint;
begin
  if i_claim.reward_id is not null then select r.code into v_reward_code from largesse.reward r where r.id = i_claim.reward_id; end if;
  if i_claim.reversal is not null then v_reversals := largesse.claim_reversal_attempts(i_claim.activity_id, i_claim.id); end if;
  return largesse.claim_doc(i_claim, i_activity_code, v_reward_code, v_reversals);
end $$;
