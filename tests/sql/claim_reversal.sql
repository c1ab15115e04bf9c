-- SPDX-License-Identifier: Apache-2.0
-- Every step with every outcome; what a success owes that comes after everything was given back; and reversals from the decision to their end.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 1000}'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);
create temp sequence users;
create temp table mine (user_id int primary key, activity_id bigint, claim_id bigint);

-- A new claim; its user.
create function probe.make() returns int language sql as $$
  with u as (select nextval('users')::int as user_id), a as (select id from largesse.activity where code = 'a')
  insert into mine select u.user_id, a.id, s.claim_id from u, a, largesse.claim_submit(a.id, array['b' || u.user_id], array[u.user_id::bigint], array[1],
    array[null::text], '5 s') s where s.ord = 1 returning user_id
$$;
create function probe.claim(i_user int) returns largesse.claim language sql as $$
  select c from mine m join largesse.claim c on c.activity_id = m.activity_id and c.id = m.claim_id where m.user_id = i_user
$$;
create function probe.take(i_user int, i_trust interval default '4 s') returns text language sql as $$
  select coalesce((select t.doing || ' ' || t.attempt from mine m, largesse.claim_take(array[m.activity_id], array[m.claim_id],
    array[(probe.claim(i_user)).attempts], '10 s', i_trust, 'simulator') t where m.user_id = i_user), 'nothing')
$$;
create function probe.settle(i_user int, i_attempt int, i_step text, i_outcome text, i_review text default null, i_trust_ms bigint default null) returns text
language sql as $$
  select coalesce((select s.status || case when s.under_review then ' review' else '' end
    from mine m, largesse.claim_settle(array[m.activity_id], array[m.claim_id], array[i_attempt], array[1], array[i_step], array[i_outcome], array['simulator'],
      array[200], array['ref-1'], array['X1'], array['detail 17'], array[now()], array[1000::bigint], array[30000::bigint], array[i_review],
      array[i_trust_ms], array['POST …'], array['HTTP 200']) s where m.user_id = i_user), 'nothing')
$$;
-- status, step, reversal, when it is due, review, whether trust is ahead, what the user holds.
create function probe.state(i_user int) returns text language sql as $$
  select concat_ws(' ', c.status, c.step, coalesce(c.reversal, '-'),
      case when c.next_attempt_at is null then 'never' when greatest(c.next_attempt_at, c.lease_until) <= clock_timestamp() then 'now' else 'later' end,
      coalesce(c.review_cause, '-'), case when c.trust_after > clock_timestamp() then 'trust' else '-' end,
      case when (select u.used from largesse.usage u where u.user_id = i_user and u.activity_id = c.activity_id) = 1 then 'holds' else 'gave back' end,
      case when c.reversed_at is not null then 'reversed' end)
    from probe.claim(i_user) c
$$;
create function probe.letters(i_user int) returns text language sql as $$
  select coalesce(string_agg(d.cause || case when d.closed_at is null then '' else '=' || d.resolution end, ',' order by d.id), 'none')
    from mine m join largesse.dead_letter d on d.activity_id = m.activity_id and d.claim_id = m.claim_id where m.user_id = i_user
$$;

-- --- every step with every outcome

-- Brings a new claim to where the step is being done under attempt 1 (of the step), settles it, and says where it stands.
create function probe.after(i_step text, i_outcome text, i_review text default null) returns text language plpgsql as $$
declare
  v_user int := probe.make();
begin
  if i_step <> 'deliver' then
    perform probe.take(v_user);
    perform probe.settle(v_user, 1, 'deliver', case when i_step = 'inquire' then 'unknown' else 'done' end);
  end if;
  if i_step in ('reverse', 'inquire_reverse') then
    perform largesse.claim_reverse(array[m.activity_id], array[m.claim_id]) from mine m where m.user_id = v_user;
  end if;
  if i_step = 'inquire_reverse' then
    perform probe.take(v_user);
    perform probe.settle(v_user, 2, 'reverse', 'unknown');
  end if;
  perform probe.expect('taken for ' || i_step, split_part(probe.take(v_user), ' ', 1), i_step);
  perform probe.settle(v_user, (probe.claim(v_user)).attempts, i_step, i_outcome, i_review);
  perform probe.settle(v_user, (probe.claim(v_user)).attempts, i_step, i_outcome, i_review);   -- twice changes nothing
  return probe.state(v_user);
end $$;
select probe.expect(step || ' ' || outcome || ' ' || coalesce(review, ''), probe.after(step, outcome, review), expected) from (values
  ('deliver', 'done', null, 'succeeded inquire - never - - holds'),
  ('deliver', 'pending', null, 'issuing inquire - later - trust holds'),
  ('deliver', 'retry', null, 'issuing deliver - later - - holds'),
  ('deliver', 'retry', 'attempts_used_up', 'issuing deliver - never attempts_used_up - holds'),
  ('deliver', 'refused', null, 'failed inquire - never - - gave back'),
  ('deliver', 'refused', 'refused', 'issuing deliver - never refused - holds'),
  ('deliver', 'unknown', null, 'issuing inquire - later - trust holds'),
  ('deliver', 'unknown', 'outcome_unknown', 'issuing inquire - never outcome_unknown trust holds'),
  ('inquire', 'done', null, 'succeeded inquire - never - - holds'),
  ('inquire', 'pending', null, 'issuing inquire - later - trust holds'),
  ('inquire', 'retry', null, 'issuing deliver - later - - holds'),
  ('inquire', 'refused', null, 'failed inquire - never - - gave back'),
  ('inquire', 'unknown', null, 'issuing inquire - later - trust holds'),
  ('reverse', 'done', null, 'rolled_back inquire_reverse done never - - gave back reversed'),
  ('reverse', 'not_found', null, 'succeeded reverse refused never reversal_not_found - holds'),
  ('reverse', 'pending', null, 'succeeded inquire_reverse pending later - trust holds'),
  ('reverse', 'retry', null, 'succeeded reverse retry later - - holds'),
  ('reverse', 'retry', 'reversal_attempts_used_up', 'succeeded reverse retry never reversal_attempts_used_up - holds'),
  ('reverse', 'refused', null, 'succeeded reverse refused never reversal_refused - holds'),
  ('reverse', 'unknown', null, 'succeeded inquire_reverse unknown later - trust holds'),
  ('reverse', 'unknown', 'reversal_unknown', 'succeeded inquire_reverse unknown never reversal_unknown trust holds'),
  ('inquire_reverse', 'done', null, 'rolled_back inquire_reverse done never - - gave back reversed'),
  ('inquire_reverse', 'not_found', null, 'succeeded reverse refused never reversal_not_found - holds'),
  ('inquire_reverse', 'pending', null, 'succeeded inquire_reverse pending later - trust holds'),
  ('inquire_reverse', 'retry', null, 'succeeded reverse retry later - - holds'),
  ('inquire_reverse', 'refused', null, 'succeeded reverse refused never reversal_refused - holds'),
  ('inquire_reverse', 'unknown', null, 'succeeded inquire_reverse unknown later - trust holds')
) as t(step, outcome, review, expected);

-- --- late news

-- The delivery of a claim that has failed since was done after all: exactly one reversal, however often it is said.
do $$
declare
  u int := probe.make();
begin
  perform probe.take(u);
  update largesse.claim set lease_until = now() - interval '1 s' where user_id = u;
  perform probe.expect('taken over', probe.take(u), 'inquire 2');
  perform probe.expect('refused', probe.settle(u, 2, 'inquire', 'refused'), 'failed');
  perform probe.expect('late done', probe.settle(u, 1, 'deliver', 'done'), 'failed');
  perform probe.expect('owed', probe.state(u), 'failed reverse owed now - - gave back');
  perform probe.expect('said again', probe.settle(u, 1, 'deliver', 'done'), 'nothing');
  perform probe.expect('and once more by the function', (select largesse.claim_owe_reversal(activity_id, claim_id) from mine where user_id = u)::text, 'false');
  perform probe.expect('taken', probe.take(u), 'reverse 3');
  perform probe.expect('said while it is being made', probe.settle(u, 1, 'deliver', 'done'), 'nothing');
  perform probe.expect('done', probe.settle(u, 3, 'reverse', 'done'), 'failed');
  perform probe.expect('over', probe.state(u), 'failed inquire_reverse done never - - gave back reversed');
  perform probe.expect('said afterwards', probe.settle(u, 1, 'deliver', 'done'), 'nothing');
  perform probe.expect('nothing to take', probe.take(u), 'nothing');
  perform probe.expect('done once', probe.settle(u, 3, 'reverse', 'done'), 'nothing');
end $$;

-- A success is no news to a claim that has succeeded, and a failure cannot move it.
do $$
declare
  u int := probe.make();
begin
  perform probe.take(u);
  perform probe.settle(u, 1, 'deliver', 'done');
  perform probe.expect('done again', probe.settle(u, 1, 'deliver', 'done'), 'nothing');
  perform probe.expect('refused later', probe.settle(u, 1, 'deliver', 'refused'), 'nothing');
  perform probe.expect('doubt', (select largesse.claim_doubt(activity_id, claim_id, 'inquire') from mine where user_id = u)::text, 'false');
  perform probe.expect('unmoved', probe.state(u), 'succeeded inquire - never - - holds');
end $$;

-- A failure that is reported while the call is under way: asked about at once when the call ends without a truth of its own.
do $$
declare
  u int := probe.make();
begin
  perform probe.take(u);
  perform probe.expect('doubt', (select largesse.claim_doubt(activity_id, claim_id, 'inquire') from mine where user_id = u)::text, 'true');
  perform probe.expect('not before the lease ends', probe.state(u), 'issuing inquire - later - trust holds');
  perform probe.settle(u, 1, 'deliver', 'unknown');
  perform probe.expect('then at once', probe.state(u), 'issuing inquire - now - trust holds');
  perform probe.take(u);
  perform probe.settle(u, 2, 'inquire', 'unknown');
  perform probe.expect('once', probe.state(u), 'issuing inquire - later - trust holds');
  perform probe.expect('without a call', (select largesse.claim_doubt(activity_id, claim_id, 'inquire') from mine where user_id = u)::text, 'true');
  perform probe.expect('at once too', probe.state(u), 'issuing inquire - now - trust holds');
  perform probe.take(u);
  perform largesse.claim_doubt(activity_id, claim_id, 'inquire') from mine where user_id = u;
  perform probe.expect('a success is a truth', probe.settle(u, 3, 'inquire', 'done'), 'succeeded');
end $$;

-- --- reversals

-- A delivery that may still be running is not taken back yet: the reversal waits until it could be trusted to be over.
do $$
declare
  u int := probe.make();
begin
  perform probe.take(u);
  perform probe.expect('not while a call is under way', (select count(*)::text from mine m, largesse.claim_reverse(array[m.activity_id], array[m.claim_id]) r where m.user_id = u), '0');
  perform probe.settle(u, 1, 'deliver', 'unknown', 'outcome_unknown', 4000);
  perform largesse.claim_reverse(array[m.activity_id], array[m.claim_id]) from mine m where m.user_id = u;
  perform probe.expect('waits', probe.state(u), 'issuing reverse owed later - trust holds');
  perform probe.expect('is not taken', probe.take(u), 'nothing');
  update largesse.claim set trust_after = now(), next_attempt_at = now() where user_id = u;
  perform probe.expect('then it is', probe.take(u), 'reverse 2');
  -- News of the delivery while it is being taken back does not make it a success.
  perform probe.expect('late done', probe.settle(u, 1, 'deliver', 'done'), 'nothing');
  perform probe.expect('goes on', probe.state(u), 'issuing inquire_reverse owed later - trust holds');
  perform probe.expect('done', probe.settle(u, 2, 'reverse', 'done'), 'rolled_back');
  perform probe.expect('given back once', probe.state(u), 'rolled_back inquire_reverse done never - - gave back reversed');
end $$;

-- "Nothing to take back" counts for the attempt that owns the claim, "done" always: a late one of the first reversal is the truth.
do $$
declare
  u int := probe.make();
begin
  perform probe.take(u);
  perform probe.settle(u, 1, 'deliver', 'done');
  perform largesse.claim_reverse(array[m.activity_id], array[m.claim_id]) from mine m where m.user_id = u;
  perform probe.expect('first', probe.take(u), 'reverse 2');
  update largesse.claim set lease_until = now() - interval '1 s' where user_id = u;
  perform probe.expect('its lease ran out', probe.take(u), 'inquire_reverse 3');
  perform probe.expect('an old "not found"', probe.settle(u, 2, 'reverse', 'not_found'), 'nothing');
  perform probe.expect('an old "refused"', probe.settle(u, 2, 'reverse', 'refused'), 'nothing');
  perform probe.expect('an old "done"', probe.settle(u, 2, 'reverse', 'done'), 'rolled_back');
  perform probe.expect('over', probe.state(u), 'rolled_back inquire_reverse done never - - gave back reversed');
  perform probe.expect('too late', probe.settle(u, 3, 'inquire_reverse', 'refused'), 'nothing');
  perform probe.expect('no letter', probe.letters(u), 'none');
end $$;

-- Nothing was there to take back; then the delivery turns out to have happened: it is owed again.
do $$
declare
  u int := probe.make();
begin
  perform probe.take(u);
  perform probe.settle(u, 1, 'deliver', 'unknown', 'outcome_unknown', 0);
  perform largesse.claim_reverse(array[m.activity_id], array[m.claim_id]) from mine m where m.user_id = u;
  perform probe.take(u);
  perform probe.expect('nothing there', probe.settle(u, 2, 'reverse', 'not_found'), 'rolled_back');
  perform probe.expect('no further letter', probe.letters(u), 'outcome_unknown=settled');
  perform probe.expect('late', probe.settle(u, 1, 'deliver', 'done'), 'rolled_back');
  perform probe.expect('owed', probe.state(u), 'rolled_back reverse owed now - - gave back');
  perform probe.take(u);
  perform probe.settle(u, 3, 'reverse', 'done');
  perform probe.expect('reversed', probe.state(u), 'rolled_back inquire_reverse done never - - gave back reversed');
end $$;

-- A reversal that is refused waits for a person, whatever the claim's status; a retry asks again, and its end closes the letter.
do $$
declare
  u int := probe.make();
begin
  perform probe.take(u);
  perform probe.settle(u, 1, 'deliver', 'done');
  perform largesse.claim_reverse(array[m.activity_id], array[m.claim_id]) from mine m where m.user_id = u;
  perform probe.take(u);
  perform probe.expect('refused', probe.settle(u, 2, 'reverse', 'refused'), 'succeeded review');
  perform probe.expect('letter', probe.letters(u), 'reversal_refused');
  perform probe.expect('fingerprint', (select fingerprint || ' ' || code from largesse.dead_letter d, mine m where m.user_id = u and d.claim_id = m.claim_id), 'reversal_refused: X1 X1');
  perform probe.expect('not taken', probe.take(u), 'nothing');
  perform largesse.claim_reverse(array[m.activity_id], array[m.claim_id]) from mine m where m.user_id = u;
  perform probe.expect('again', probe.take(u), 'reverse 3');
  perform probe.expect('done', probe.settle(u, 3, 'reverse', 'done'), 'rolled_back');
  perform probe.expect('letter closed', probe.letters(u), 'reversal_refused=settled');
  perform probe.expect('shown', (select largesse.claim_json(c, 'a')::jsonb -> 'reversal' ->> 'status' from probe.claim(u) c), 'done');
  perform probe.expect('attempts shown', (select largesse.claim_json(c, 'a')::jsonb -> 'reversal' ->> 'attempts' from probe.claim(u) c), '2');
end $$;

-- The provider knows nothing of what it said it had delivered: nothing is given back, and a person is told; who resolves it as not delivered gives it back.
do $$
declare
  u int := probe.make();
begin
  perform probe.take(u);
  perform probe.settle(u, 1, 'deliver', 'done');
  perform largesse.claim_reverse(array[m.activity_id], array[m.claim_id]) from mine m where m.user_id = u;
  perform probe.take(u);
  perform probe.expect('not found', probe.settle(u, 2, 'reverse', 'not_found'), 'succeeded review');
  perform probe.expect('letter', probe.letters(u), 'reversal_not_found');
  perform probe.expect('kept', probe.state(u), 'succeeded reverse refused never reversal_not_found - holds');
  perform largesse.claim_reversal_end(array[m.activity_id], array[m.claim_id], array['done']) from mine m where m.user_id = u;
  perform probe.expect('over', probe.letters(u), 'reversal_not_found=settled');
end $$;

-- A provider that cannot reverse leaves it to a person.
insert into largesse.provider_state (provider, configured_concurrency, configured_rate, can_reverse, can_inquire, repeat_is_safe, changed_at)
  values ('simulator', 1, 0, false, true, false, now());
do $$
declare
  u int := probe.make();
begin
  perform probe.take(u);
  update largesse.claim set lease_until = now() - interval '1 s' where user_id = u;
  perform probe.take(u);
  perform probe.settle(u, 2, 'inquire', 'refused');
  perform probe.settle(u, 1, 'deliver', 'done');
  perform probe.expect('review', probe.state(u), 'failed reverse owed never reversal_not_possible - gave back');
  perform probe.expect('letter', probe.letters(u), 'reversal_not_possible');
  perform probe.expect('twice', probe.settle(u, 1, 'deliver', 'done'), 'nothing');
  perform probe.expect('one letter', probe.letters(u), 'reversal_not_possible');
end $$;
delete from largesse.provider_state;

-- --- several calls under one lease, traces

do $$
declare
  u int := probe.make();
  v_trace uuid := '0af76519-16cd-43dd-8448-eb211c80319c';
  m mine;
begin
  select * into m from mine where user_id = u;
  perform probe.expect('trace of the message', (select t.trace::text from largesse.claim_take(array[m.activity_id], array[m.claim_id], array[0], '10 s', '4 s', 'simulator', array[v_trace]) t), v_trace::text);
  perform probe.settle(u, 1, 'deliver', 'unknown');
  perform probe.expect('the first one stays', (select t.trace::text from largesse.claim_take(array[m.activity_id], array[m.claim_id], array[1], '10 s', '4 s', 'simulator', array[gen_random_uuid()]) t), v_trace::text);
  perform largesse.claim_settle(array[m.activity_id], array[m.claim_id], array[2], array[2], array['deliver'], array['done'], array['simulator'], array[200],
    array['r'], array[null::text], array[null::text], array[now()], array[5::bigint], array[0::bigint], array[null::text], array[null::bigint], array['POST'], array['HTTP 200'],
    jsonb_build_array(jsonb_build_object('a', m.activity_id, 'c', m.claim_id, 'attempt', 2, 'call', 1, 'step', 'inquire', 'provider', 'simulator', 'started_us', 1e15::bigint,
      'duration_us', 7, 'outcome', 'not_found', 'http', 404, 'code', 'NOT_FOUND', 'request', 'GET', 'answer', 'HTTP 404')));
  perform probe.expect('calls', (select string_agg(concat_ws(' ', t.attempt, t.call, t.step, t.outcome, t.request, t.trace = v_trace), '; ' order by t.attempt, t.call)
    from largesse.attempt t where t.activity_id = m.activity_id and t.claim_id = m.claim_id),
    '1 1 deliver unknown POST … t; 2 1 inquire not_found GET t; 2 2 deliver done POST t');
  perform probe.expect('when', (select started_at::text from largesse.attempt t where t.claim_id = m.claim_id and t.attempt = 2 and t.call = 1), (timestamptz 'epoch' + 1e9 * interval '1 s')::text);
end $$;
select probe.expect('a trace is made where none came', (select count(*)::text from largesse.claim where attempts > 0 and trace is null), '0');

-- Ends of reversals of two activities in one call are refused: stock locks come first and one at a time.
do $$ begin
  perform largesse.claim_reversal_end(array[1, 2], array[1, 2], array['done', 'done']);
  raise exception 'two activities were accepted';
exception when invalid_parameter_value then null; end $$;

-- Stock and allowance agree with what the claims hold, after all of this.
do $$ declare v record; begin
  for v in select d.name, r.* from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r
            where d.name in ('stock_not_matching_claims', 'usage_not_matching_claims', 'claim_nobody_will_look_at', 'claim_under_review_without_dead_letter') loop
    raise exception 'audit: %', v;
  end loop;
end $$;

-- What is told of a roll-back says that the reversal is over.
select probe.expect('told as done', string_agg(distinct doc::json -> 'reversal' ->> 'status', ',') || ' ' || bool_and(doc::json -> 'reversal' ->> 'status' = 'not_found' or doc::jsonb -> 'reversal' ? 'doneAt')::text, 'done,not_found true')
  from largesse.event_out o cross join unnest(o.docs) as d(doc) where o.type = 'claim.rolled_back';
