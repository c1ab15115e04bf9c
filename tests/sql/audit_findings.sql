-- SPDX-License-Identifier: Apache-2.0
-- Each audit sees the one row that was damaged for it, and nothing else does.
create schema probe;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 50}'::jsonb,
  'limits', '[{"count": 2, "period": "total"}, {"count": 2, "period": "day"}]'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);
select largesse.claim_submit(id, array(select 'b' || n from generate_series(1, 20) n), array(select n::bigint from generate_series(1, 20) n),
    array_fill(1, array[20]), array_fill(null::text, array[20]), '5 s') from largesse.activity;
select largesse.claim_move(array_agg(activity_id), array_agg(id), 'succeeded', null, null, null) from largesse.claim where user_id <= 10;
insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
  select activity_id, id, 1, case when user_id % 2 = 0 then 'inquire' else 'deliver' end, 'simulator', now(), 1, 'done' from largesse.claim where user_id <= 10;

\ir parts/damage_probe.sql
call probe.damage('select 1', 'none');
call probe.damage('update largesse.stock set remaining = remaining - 1', 'stock_not_matching_claims');
call probe.damage('update largesse.stock set taken = taken + 1', 'stock_not_matching_claims');
-- A total that is not the one that was published is no matter of the claims.
call probe.damage('update largesse.stock set remaining = remaining - 1, taken = taken + 1', 'stock_not_matching_claims');
call probe.damage('update largesse.activity set stock_total = 51', 'stock_initial_wrong');
call probe.damage('update largesse.activity set stock_total = 49', 'stock_initial_wrong');
call probe.damage('update largesse.activity set stock_total = 51; select largesse.stock_adjust(''a'', ''k'', 5, ''r'', ''test'')', 'stock_initial_wrong');
call probe.damage('select largesse.stock_adjust(''a'', ''k'', 5, ''r'', ''test'')', 'none');
call probe.damage('select largesse.stock_adjust(''a'', ''k'', 5, ''r'', ''test''); delete from largesse.stock_adjustment', 'stock_not_matching_claims');
-- From before it was written down: what the activity says is believed.
call probe.damage('update largesse.activity_history set stock_total = null', 'none');
call probe.damage('update largesse.activity_history set stock_total = null; update largesse.activity set stock_total = 51', 'stock_not_matching_claims');
call probe.damage('insert into largesse.stock (activity_id, segment, remaining) select id, 1, 0 from largesse.activity', 'stock_segment_wrong');
-- Rows that somebody made or edited.
call probe.damage('insert into largesse.claim (activity_id, user_id, created_at, updated_at, quantity, reward_id, biz_id, status, step, next_attempt_at) select activity_id, 500, created_at, updated_at, 1, reward_id, ''by hand'', ''issuing'', ''deliver'', now() from largesse.claim where user_id = 11',
                  'stock_not_matching_claims usage_not_matching_claims usage_not_matching_claims');
call probe.damage('insert into largesse.claim (activity_id, user_id, created_at, updated_at, quantity, reward_id, biz_id, status, step, next_attempt_at) select activity_id, user_id, created_at, updated_at, 2, reward_id, ''copy'', ''issuing'', ''deliver'', now() from largesse.claim where user_id = 11',
                  'stock_not_matching_claims usage_not_matching_claims usage_not_matching_claims user_over_limit user_over_limit');
call probe.damage('update largesse.claim set quantity = 2 where user_id = 11', 'stock_not_matching_claims usage_not_matching_claims usage_not_matching_claims');
call probe.damage('update largesse.claim set user_id = 501 where user_id = 11', array_to_string(array_fill('usage_not_matching_claims'::text, array[4]), ' '));
call probe.damage('select largesse.reward_put(''dear'', ''simulator'', 100000, ''CNY'', ''{}''); update largesse.claim set reward_id = (select id from largesse.reward where code = ''dear'') where user_id = 12', 'claim_reward_differs');
call probe.damage('update largesse.claim set reward_id = null where user_id = 12', 'claim_reward_differs');
call probe.damage('select largesse.reward_put(''probe'', ''simulator'', 200, ''CNY'', ''{}'')', 'none');  -- a new version: claims keep their terms
call probe.damage('update largesse.claim set points = 5 where user_id = 12', 'claim_row_not_legal points_not_matching_claims');
call probe.damage('update largesse.claim set numbers = ''{5}'' where user_id = 12', 'claim_row_not_legal number_not_matching_claims');
call probe.damage('insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome) select activity_id, id, 1, ''deliver'', ''simulator'', now(), 1, ''done'' from largesse.claim where user_id = 13',
                  'claim_delivered_but_not_succeeded');
call probe.damage('insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome) select activity_id, id, 1, ''deliver'', ''simulator'', now(), 1, ''refused'' from largesse.claim where user_id = 13',
                  'none');
call probe.damage('insert into largesse.stock select activity_id + 1, 0, 5, 0, 0 from largesse.stock; insert into largesse.usage select activity_id - 1, user_id, period, period_start, used, max_used from largesse.usage',
                  'row_without_activity row_without_activity');
-- A claim that is gone, with whatever it held; what speaks of it is left.
call probe.damage('with gone as (delete from largesse.usage where user_id = 1), back as (update largesse.stock set remaining = remaining + 1, taken = taken - 1) delete from largesse.claim where user_id = 1', 'claim_missing');
call probe.damage('delete from largesse.usage where user_id = 1; update largesse.stock set remaining = remaining + 1; delete from largesse.claim where user_id = 1', 'claim_missing stock_not_matching_claims');
call probe.damage('delete from largesse.usage where user_id = 13; update largesse.stock set remaining = remaining + 1, taken = taken - 1; insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at, closed_at, closed_by, close_reason, resolution) select activity_id, id, ''simulator'', ''x'', now(), now(), ''x'', ''x'', ''resolved'' from largesse.claim where user_id = 13; delete from largesse.claim where user_id = 13',
                  'claim_missing');
-- More than a limit allows, with a counter that says it may be; and what limits allowed once.
call probe.damage('insert into largesse.claim (activity_id, user_id, created_at, updated_at, quantity, reward_id, biz_id, status, step, next_attempt_at) select activity_id, user_id, created_at, updated_at, 2, reward_id, ''copy'', ''issuing'', ''deliver'', now() from largesse.claim where user_id = 11; update largesse.stock set remaining = remaining - 2, taken = taken + 2; update largesse.usage set used = 3, max_used = 3 where user_id = 11',
                  'usage_not_matching_claims usage_not_matching_claims user_over_limit user_over_limit');
call probe.damage('update largesse.usage set max_used = 3 where user_id = 11 and period = ''total''', 'usage_not_matching_claims');
call probe.damage('select largesse.activity_limits_replace(id, ''[{"count": 5, "period": "total"}]'') from largesse.activity; insert into largesse.claim (activity_id, user_id, created_at, updated_at, quantity, reward_id, biz_id, status, step, next_attempt_at) select activity_id, user_id, created_at, updated_at, 2, reward_id, ''copy'', ''issuing'', ''deliver'', now() from largesse.claim where user_id = 11; update largesse.stock set remaining = remaining - 2, taken = taken + 2; update largesse.usage set used = 3, max_used = 5 where user_id = 11; select largesse.activity_limits_replace(id, ''[{"count": 1, "period": "total"}]'') from largesse.activity', 'none');
-- A limit that came after the claims.
call probe.damage('select largesse.activity_limits_replace(id, ''[]'') from largesse.activity; update largesse.claim set quantity = 3 where user_id = 11; update largesse.stock set remaining = remaining - 2, taken = taken + 2; select largesse.activity_limits_replace(id, ''[{"count": 1, "period": "total"}]'') from largesse.activity', 'none');
call probe.damage('delete from largesse.stock', 'stock_not_matching_claims');
call probe.damage('update largesse.usage set used = 2 where user_id = 3 and period = ''day''', 'usage_not_matching_claims');
call probe.damage('delete from largesse.usage where user_id = 3 and period = ''total''', 'usage_not_matching_claims');
call probe.damage('update largesse.claim set created_at = now() + interval ''2 days'' where user_id = 4',
                  'claim_outside_window usage_not_matching_claims usage_not_matching_claims');
call probe.damage('update largesse.claim set created_at = (select end_at from largesse.activity) where user_id = 4; delete from largesse.usage where period = ''day''; delete from largesse.activity_limit where period = ''day''',
                  'claim_outside_window');
call probe.damage('update largesse.claim set review_since = now(), next_attempt_at = null where user_id = 15', 'claim_under_review_without_dead_letter');
call probe.damage('insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at) select activity_id, id, ''simulator'', ''x'', now() from largesse.claim where user_id = 16',
                  'claim_under_review_without_dead_letter');
call probe.damage('update largesse.claim set next_attempt_at = null where user_id = 17', 'claim_nobody_will_look_at');
call probe.damage('update largesse.claim set next_attempt_at = now() where user_id = 1', 'claim_nobody_will_look_at');
call probe.damage('select largesse.claim_move(array_agg(activity_id), array_agg(id), ''failed'', null, null, null) from largesse.claim where user_id = 19; insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome) select activity_id, id, 1, ''deliver'', ''simulator'', now(), 1, ''done'' from largesse.claim where user_id = 19',
                  'claim_failed_but_delivered');
call probe.damage('delete from largesse.claim where user_id = 18', 'stock_not_matching_claims usage_not_matching_claims usage_not_matching_claims');
call probe.damage('update largesse.claim set status = ''failed'', next_attempt_at = null where user_id = 18', 'stock_not_matching_claims usage_not_matching_claims usage_not_matching_claims');

-- Claims that grow old, and reversals: an activity that began long ago.
select largesse.activity_put(jsonb_build_object('code', 'b', 'name', 'b', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
  'startAt', now() - interval '10 days', 'endAt', now() + interval '1 day', 'stock', '{"total": 50}'::jsonb), 'test', null);
select largesse.activity_action('b', 'publish', 'test', null, null);
select largesse.claim_submit(id, array(select 'c' || n from generate_series(101, 120) n), array(select n::bigint from generate_series(101, 120) n),
    array_fill(1, array[20]), array_fill(null::text, array[20]), '5 s') from largesse.activity where code = 'b';
-- A busy system: some are taken, one was never heard of, one is pending, one is with a person, one is being taken back, one has been.
update largesse.claim set attempts = 1, lease_until = now() + interval '3 s', next_attempt_at = now() + interval '4 s', step = 'inquire', doing = 'deliver' where user_id = 101;
update largesse.claim set attempts = 3, next_attempt_at = now() - interval '1 s', step = 'inquire', outcome = 'unknown' where user_id = 102;
update largesse.claim set attempts = 1, next_attempt_at = now() + interval '1 hour', step = 'inquire', outcome = 'pending' where user_id = 103;
update largesse.claim set attempts = 9, next_attempt_at = null, step = 'deliver', outcome = 'retry', review_since = now(), review_cause = 'attempts_used_up' where user_id = 104;
insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at) select activity_id, id, 'simulator', 'attempts_used_up', now() from largesse.claim where user_id = 104;
select largesse.claim_move(array_agg(activity_id), array_agg(id), 'failed', null, null, null) from largesse.claim where user_id in (105, 106);
insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
  select activity_id, id, 1, 'deliver', 'simulator', now(), 1, 'done' from largesse.claim where user_id in (105, 106);
do $$ begin if (select count(*) from largesse.claim c where c.user_id in (105, 106) and largesse.claim_owe_reversal(c.activity_id, c.id)) <> 2 then raise exception 'no reversal is owed'; end if; end $$;
select largesse.claim_reversal_end(array[activity_id], array[id], array['done']) from largesse.claim where user_id = 106;
insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
  select activity_id, id, 2, 'reverse', 'simulator', now(), 1, 'done' from largesse.claim where user_id = 106;
call probe.damage('select 1', 'none');

-- Deliveries against attempts.
call probe.damage('delete from largesse.attempt where claim_id = (select id from largesse.claim where user_id = 1)', 'claim_succeeded_without_delivery');
call probe.damage('update largesse.attempt set outcome = ''unknown'' where claim_id = (select id from largesse.claim where user_id = 2)', 'claim_succeeded_without_delivery');
call probe.damage('update largesse.attempt set step = ''reverse'' where claim_id = (select id from largesse.claim where user_id = 3)', 'claim_succeeded_without_delivery');
call probe.damage('delete from largesse.attempt where claim_id = (select id from largesse.claim where user_id = 4); insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at, closed_at, resolution) select activity_id, id, ''simulator'', ''x'', now(), now(), ''resolved'' from largesse.claim where user_id = 4',
                  'none');
call probe.damage('delete from largesse.attempt where claim_id = (select id from largesse.claim where user_id = 5); insert into largesse.callback (provider, event_id, request_id, activity_id, claim_id, action, outcome, received_at, state) select ''simulator'', ''e1'', ''r'', activity_id, id, ''deliver'', ''done'', now(), ''applied'' from largesse.claim where user_id = 5',
                  'none');
call probe.damage('delete from largesse.attempt where claim_id = (select id from largesse.claim where user_id = 5); insert into largesse.callback (provider, event_id, request_id, activity_id, claim_id, action, outcome, received_at, state) select ''simulator'', ''e1'', ''r'', activity_id, id, ''deliver'', ''done'', now(), ''ignored'' from largesse.claim where user_id = 5',
                  'claim_succeeded_without_delivery');
call probe.damage('select largesse.claim_move(array_agg(activity_id), array_agg(id), ''succeeded'', null, null, null) from largesse.claim where user_id = 110', 'claim_succeeded_without_delivery');

-- Reversals: under way is well, until it is old; given back and delivered without one is not.
call probe.damage('update largesse.claim set reversal = ''unknown'', step = ''inquire_reverse'', reversal_since = now() - interval ''59 minutes'' where user_id = 105', 'none');
call probe.damage('update largesse.claim set reversal_since = now() - interval ''61 minutes'' where user_id = 105', 'claim_reversal_overdue');
call probe.damage('update largesse.claim set reversal_since = now() - interval ''1 day'' where user_id = 106', 'none');
call probe.damage('update largesse.claim set reversal = null, reversal_since = null, reversed_at = null where user_id = 106', 'claim_failed_but_delivered');
call probe.damage('update largesse.claim set reversal = null, reversal_since = null, reversed_at = null where user_id = 106; insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at, closed_at, resolution) select activity_id, id, ''simulator'', ''reversal_refused'', now(), now(), ''resolved'' from largesse.claim where user_id = 106',
                  'none');  -- the user keeps it
call probe.damage('update largesse.claim set next_attempt_at = null where user_id = 105', 'claim_nobody_will_look_at');
-- Taken back for nobody's asking, with all that the claim held; and brought back to life after its provider took it back.
call probe.damage('delete from largesse.attempt where step = ''reverse''', 'claim_reversal_not_confirmed');
call probe.damage('select largesse.claim_reversal_end(array[activity_id], array[id], array[''done'']) from largesse.claim where user_id = 3', 'claim_reversal_not_confirmed');
call probe.damage('select largesse.claim_reversal_end(array[activity_id], array[id], array[''done'']) from largesse.claim where user_id = 3; insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at, closed_at, resolution) select activity_id, id, ''simulator'', ''reversal_refused'', now(), now(), ''resolved'' from largesse.claim where user_id = 3',
                  'none');
call probe.damage('select largesse.claim_reversal_end(array[activity_id], array[id], array[''done'']) from largesse.claim where user_id = 3; insert into largesse.callback (provider, event_id, request_id, activity_id, claim_id, action, outcome, received_at, state) select ''simulator'', ''e2'', ''r'', activity_id, id, ''reverse'', ''done'', now(), ''applied'' from largesse.claim where user_id = 3',
                  'none');
call probe.damage('insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome) select activity_id, id, 2, ''inquire_reverse'', ''simulator'', now(), 1, ''done'' from largesse.claim where user_id = 3', 'claim_succeeded_without_delivery');

-- Whatever its status, what is under review has its open letter, and the other way round.
call probe.damage('update largesse.claim set reversal = ''refused'', next_attempt_at = null, review_since = now(), review_cause = ''reversal_refused'' where user_id = 105', 'claim_under_review_without_dead_letter');
call probe.damage('update largesse.claim set reversal = ''refused'', next_attempt_at = null, review_since = now(), review_cause = ''reversal_refused'' where user_id = 105; insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at) select activity_id, id, ''simulator'', ''reversal_refused'', now() from largesse.claim where user_id = 105',
                  'none');
call probe.damage('update largesse.dead_letter set closed_at = now(), resolution = ''settled'' where claim_id = (select id from largesse.claim where user_id = 104)', 'claim_under_review_without_dead_letter');
call probe.damage('insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at) select activity_id, id, ''simulator'', ''x'', now() from largesse.claim where user_id = 106',
                  'claim_under_review_without_dead_letter');

-- Claims that are stuck: one finding per provider and cause.
call probe.damage('update largesse.claim set created_at = now() - interval ''59 minutes'' where user_id between 111 and 120', 'none');
call probe.damage('update largesse.claim set created_at = now() - interval ''2 hours'' where user_id between 111 and 120', 'claims_stuck');
call probe.damage('update largesse.claim set created_at = now() - interval ''2 days'' where user_id in (103, 111)', 'claims_stuck claims_stuck');
call probe.damage('update largesse.claim set created_at = now() - interval ''2 days'' where user_id in (104, 105, 106)', 'none');
call probe.damage('update largesse.claim set created_at = now() - interval ''2 days'' where user_id = 112; insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at, closed_at, resolution) select activity_id, id, ''simulator'', ''x'', now(), now(), ''retried'' from largesse.claim where user_id = 112',
                  'none');
do $$
declare
  v record;
begin
  update largesse.claim set created_at = now() - interval '2 days', next_attempt_at = now() - interval '16 minutes' where user_id = 113;
  update largesse.claim set created_at = now() - interval '3 hours', next_attempt_at = now() - interval '16 minutes' where user_id = 114;
  select r.subject, r.actual into strict v from largesse.activity a, largesse.audit_run('claims_stuck', a.id) r;
  if v.subject <> 'stuck at simulator: overdue, and nobody takes it' or v.actual not like '2 claims: 1 for over an hour, 1 for over a day; the oldest is claim %' then
    raise exception 'found %: %', v.subject, v.actual;
  end if;
  insert into largesse.provider_state (provider, paused_until, configured_concurrency, configured_rate, can_reverse, can_inquire, repeat_is_safe, changed_at)
    values ('simulator', 'infinity', 1, 0, true, true, false, now());
  select r.subject into strict v from largesse.activity a, largesse.audit_run('claims_stuck', a.id) r;
  if v.subject <> 'stuck at simulator: its provider is paused' then raise exception 'found %', v.subject; end if;
  update largesse.provider_state set paused_until = now() - interval '1 s', breaker = 'open', breaker_until = now();
  select r.subject into strict v from largesse.activity a, largesse.audit_run('claims_stuck', a.id) r;
  if v.subject <> 'stuck at simulator: its provider''s circuit breaker is open' then raise exception 'found %', v.subject; end if;
end $$;
