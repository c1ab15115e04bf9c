-- SPDX-License-Identifier: Apache-2.0
-- Every state that a claim can be in × what a callback can say × whether the provider can be asked: what becomes of it. No state moves back, and stock and
-- allowance are those of the claims after every single one.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 1000}'::jsonb,
  'limits', '[{"count": 9, "period": "total"}]'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);

-- A claim of quantity 2 in one of the states.
create function probe.take(i_activity bigint, i_claim bigint, i_attempt int) returns void language plpgsql as $$
begin
  perform 1 from largesse.claim_take(array[i_activity], array[i_claim], array[i_attempt], '1 min', '1 min', 'simulator');
  if not found then raise exception 'attempt % not taken', i_attempt; end if;
end $$;
create function probe.settle(i_activity bigint, i_claim bigint, i_attempt int, i_step text, i_outcome text, i_review text default null) returns void language plpgsql as $$
begin
  perform 1 from largesse.claim_settle(array[i_activity], array[i_claim], array[i_attempt], array[1], array[i_step], array[i_outcome], array['simulator'],
    array[200], array[null::text], array[null::text], array[null::text], array[now()], array[1000::bigint], array[3600000::bigint], array[i_review], array[60000::bigint]);
  if not found then raise exception '% % not settled', i_step, i_outcome; end if;
end $$;
create function probe.make(i_state text, i_user bigint) returns largesse.claim language plpgsql as $$
declare
  v_a bigint := (select id from largesse.activity where code = 'a');
  v_c bigint;
  v   largesse.claim;
begin
  select s.claim_id into v_c from largesse.claim_submit(v_a, array['b' || i_user], array[i_user], array[2], array[null::text], '5 s') s where s.ord > 0;
  if i_state <> 'new' then perform probe.take(v_a, v_c, 0); end if;
  case
    when i_state like 'pending%' then perform probe.settle(v_a, v_c, 1, 'deliver', 'pending');
    when i_state like 'unknown%' then perform probe.settle(v_a, v_c, 1, 'deliver', 'unknown');
    when i_state = 'retry' then perform probe.settle(v_a, v_c, 1, 'deliver', 'retry');
    when i_state like 'review unknown%' then perform probe.settle(v_a, v_c, 1, 'deliver', 'unknown', 'attempts_used_up');
    when i_state = 'review retry' then perform probe.settle(v_a, v_c, 1, 'deliver', 'retry', 'attempts_used_up');
    when i_state in ('succeeded', 'taking back', 'rolled back') then perform probe.settle(v_a, v_c, 1, 'deliver', 'done');
    when i_state = 'failed' then perform probe.settle(v_a, v_c, 1, 'deliver', 'refused');
    else null;
  end case;
  if i_state in ('taking back', 'rolled back') then perform 1 from largesse.claim_reverse(array[v_a], array[v_c]); end if;
  if i_state = 'rolled back' then perform 1 from largesse.claim_reversal_end(array[v_a], array[v_c], array['done']); end if;
  if i_state like '% over' then update largesse.claim set trust_after = now() - interval '1 s' where activity_id = v_a and id = v_c; end if;
  if i_state = 'lease over' then update largesse.claim set lease_until = now() - interval '1 s' where activity_id = v_a and id = v_c; end if;
  select * into v from largesse.claim where activity_id = v_a and id = v_c;
  return v;
end $$;

-- state, what is said, then with and without an inquiry: the callback's state → the claim's status, and what is next ("now": somebody asks at once,
-- "back": the reversal is due, "review", "doubt": as soon as the call under way is settled).
create table probe.expected (state text, said text, asking text, not_asking text);
insert into probe.expected values
  ('new',                 'done',    'applied → succeeded',        'applied → succeeded'),
  ('new',                 'refused', 'ignored → issuing',          'ignored → issuing'),
  ('leased',              'done',    'applied → succeeded',        'applied → succeeded'),
  ('leased',              'refused', 'inquires → issuing doubt',   'inquires → issuing doubt'),
  ('lease over',          'done',    'applied → succeeded',        'applied → succeeded'),
  ('lease over',          'refused', 'inquires → issuing now',     'inquires → issuing now'),
  ('pending',             'done',    'applied → succeeded',        'applied → succeeded'),
  ('pending',             'refused', 'inquires → issuing now',     'applied → failed'),
  ('pending over',        'done',    'applied → succeeded',        'applied → succeeded'),
  ('pending over',        'refused', 'applied → failed',           'applied → failed'),
  ('unknown',             'done',    'applied → succeeded',        'applied → succeeded'),
  ('unknown',             'refused', 'inquires → issuing now',     'inquires → issuing now'),
  ('unknown over',        'done',    'applied → succeeded',        'applied → succeeded'),
  ('unknown over',        'refused', 'inquires → issuing now',     'applied → failed'),
  ('retry',               'done',    'applied → succeeded',        'applied → succeeded'),
  ('retry',               'refused', 'ignored → issuing',          'ignored → issuing'),
  ('review unknown',      'done',    'applied → succeeded',        'applied → succeeded'),
  ('review unknown',      'refused', 'inquires → issuing now',     'ignored → issuing review'),
  ('review unknown over', 'refused', 'inquires → issuing now',     'applied → failed'),
  ('review retry',        'done',    'applied → succeeded',        'applied → succeeded'),
  ('review retry',        'refused', 'ignored → issuing review',   'ignored → issuing review'),
  ('succeeded',           'done',    'ignored → succeeded',        'ignored → succeeded'),
  ('succeeded',           'refused', 'contradicts → succeeded',    'contradicts → succeeded'),  -- B40
  ('taking back',         'done',    'ignored → succeeded back',   'ignored → succeeded back'),
  ('taking back',         'refused', 'ignored → succeeded back',   'ignored → succeeded back'),
  ('failed',              'done',    'owes_reversal → failed back', 'owes_reversal → failed back'),
  ('failed',              'refused', 'ignored → failed',           'ignored → failed'),
  ('rolled back',         'done',    'ignored → rolled_back',      'ignored → rolled_back'),
  ('rolled back',         'refused', 'ignored → rolled_back',      'ignored → rolled_back');
-- "Not decided yet" and what is not for us change nothing, whatever the state.
insert into probe.expected
  select e.state, s.said, 'ignored', 'ignored' from (select distinct state from probe.expected) e cross join (values ('pending'), ('ignored')) as s(said);

create function probe.next(c largesse.claim) returns text language sql as $$
  select case when c.review_since is not null then ' review' when c.doubted_at is not null then ' doubt'
              when c.next_attempt_at is null or greatest(c.next_attempt_at, c.lease_until) > largesse.clock_now() then ''
              when c.step = 'reverse' then ' back' when c.step = 'inquire' then ' now' else ' ' || c.step end
$$;

-- After each callback: the stock that is out is that of the claims that hold it, allowance too, and every claim under review has its open letter.
create function probe.books(i_case text) returns void language plpgsql as $$
declare
  v_held bigint := (select coalesce(sum(c.quantity), 0) from largesse.claim c join largesse.claim_state s using (status) where s.holds_stock);
begin
  perform probe.expect(i_case || ': stock', (select 1000 - remaining || ' ' || taken from largesse.stock), v_held || ' ' || v_held);
  perform probe.expect(i_case || ': allowance', (select sum(used)::text from largesse.usage), v_held::text);
  perform probe.expect(i_case || ': letters', (select count(*)::text from largesse.claim c full join (select * from largesse.dead_letter where closed_at is null) d
    on d.activity_id = c.activity_id and d.claim_id = c.id where (c.review_since is null) <> (d.id is null)), '0');
end $$;

do $$
declare
  e       record;
  v_user  bigint := 0;
  v_claim largesse.claim;
  v_after largesse.claim;
  v_asks  boolean;
  v_case  text;
  v_got   record;
begin
  for e in select * from probe.expected loop
    foreach v_asks in array array[true, false] loop
      v_user := v_user + 1;
      v_claim := probe.make(e.state, v_user);
      v_case := e.state || ', ' || e.said || case when v_asks then '' else ', cannot be asked' end;
      for v_round in 1..2 loop
        select * into strict v_got from largesse.callback_apply('simulator', 'e' || v_user, v_claim.activity_id || '-' || v_claim.id, v_claim.activity_id, v_claim.id,
          'deliver', e.said, null, 'FAILED', null, null, now(), '{}', null, v_asks);
        select * into v_after from largesse.claim where activity_id = v_claim.activity_id and id = v_claim.id;
        if v_round = 2 then
          perform probe.expect(v_case || ', again', v_got.verdict, 'duplicate');
        elsif e.said in ('pending', 'ignored') then
          perform probe.expect(v_case, v_got.verdict, 'ignored');
          perform probe.expect(v_case || ': row', v_after::text, v_claim::text);
        else
          perform probe.expect(v_case, v_got.verdict || ' → ' || v_after.status || probe.next(v_after), case when v_asks then e.asking else e.not_asking end);
        end if;
        if v_after.status <> v_claim.status and not exists (select from largesse.claim_state_move m where m.from_status = v_claim.status and m.to_status = v_after.status) then
          raise exception '%: % moved to %', v_case, v_claim.status, v_after.status;
        end if;
        perform probe.books(v_case);
      end loop;
    end loop;
  end loop;
end $$;
