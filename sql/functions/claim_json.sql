-- SPDX-License-Identifier: Apache-2.0
-- How often taking a delivery back was tried. Parameters: the claim. Result: the number. Locks: none. Errors: none.
create or replace function largesse.claim_reversal_attempts(i_activity_id bigint, i_claim_id bigint) returns bigint
language sql stable
as $$
  select count(*) from largesse.attempt t where t.activity_id = i_activity_id and t.claim_id = i_claim_id and t.step in ('reverse', 'inquire_reverse')
$$;

-- A claim from what was looked up already. Without a query inside, the planner puts it in line: a third of the cost where thousands of claims a second
-- are told about. i_reversal_attempts is evaluated only for claims with a reversal.
create or replace function largesse.claim_doc(i_claim largesse.claim, i_activity_code text, i_reward_code text, i_reversal_attempts bigint) returns text
language sql stable
as $$
  select json_strip_nulls(json_build_object(
    'claimId', i_claim.activity_id || '-' || i_claim.id,
    'activityCode', i_activity_code,
    'userId', i_claim.user_id::text,
    'bizId', i_claim.biz_id,
    'status', i_claim.status,
    'rewardCode', i_reward_code,
    'quantity', i_claim.quantity,
    'channel', i_claim.channel,
    'createdAt', largesse.time_text(i_claim.created_at),
    'updatedAt', largesse.time_text(i_claim.updated_at),
    'delivery', case when i_claim.step is not null then json_build_object(
        'attempts', i_claim.attempts,
        'nextAttemptAt', largesse.time_text(i_claim.next_attempt_at),
        'outcome', i_claim.outcome,
        'ref', i_claim.provider_ref) end,
    'reversal', case when i_claim.reversal is not null then json_build_object(
        'status', i_claim.reversal,
        'attempts', i_reversal_attempts,
        'since', largesse.time_text(i_claim.reversal_since),
        'doneAt', largesse.time_text(i_claim.reversed_at)) end,
    'review', case when i_claim.review_since is not null then json_build_object(
        'cause', i_claim.review_cause,
        'since', largesse.time_text(i_claim.review_since)) end,
    'failure', case when i_claim.failure_code is not null then json_build_object(
        'code', i_claim.failure_code,
        'detail', i_claim.failure_detail) end
  ))::text
$$;

-- A claim as every answer and event shows it.
-- Parameters: i_claim (the row), i_activity_code. Result: JSON text. Locks: none. Errors: none.
create or replace function largesse.claim_json(i_claim largesse.claim, i_activity_code text) returns text
language sql stable
as $$
  select largesse.claim_doc(i_claim, i_activity_code, (select r.code from largesse.reward r where r.id = i_claim.reward_id),
                            largesse.claim_reversal_attempts(i_claim.activity_id, i_claim.id))
$$;
