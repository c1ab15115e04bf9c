-- SPDX-License-Identifier: Apache-2.0
-- What every kind of claim holds, takes and gives back, for each legal move; the waiting list; cancelling, accepting and expiring.
create schema probe;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
select largesse.reward_put('gift', 'simulator', 100, 'CNY', '{}');
insert into largesse.event (code, name, time_zone, created_at, updated_at) values ('fair', 'fair', 'UTC', now(), now());
create function probe.activity(i_code text, i_kind text, i_total bigint, i_reward text default null, i_limits jsonb default '[{"count": 3, "period": "total"}]', i_event text default null)
returns bigint language plpgsql as $$
begin
  perform largesse.activity_put(jsonb_strip_nulls(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'registration', 'timeZone', 'UTC', 'rewardCode', i_reward,
    'eventCode', i_event, 'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day'))
    || jsonb_build_object('stock', jsonb_build_object('total', i_total), 'limits', i_limits), 'test', null);
  update largesse.activity set kind = i_kind, points_cost = case i_kind when 'exchange' then 10 end where code = i_code;
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
  return (select id from largesse.activity where code = i_code);
end $$;
-- A claim in a state, with all that it holds there. Its bizId is b<user>.
create function probe.make(i_code text, i_user bigint, i_status text, i_quantity int default 1, i_numbers bigint[] default null, i_keep interval default '10 minutes')
returns bigint language plpgsql as $$
declare
  v_act largesse.activity;
  v_id  bigint := nextval('largesse.claim_id_seq');
  v_at  timestamptz := clock_timestamp();
  v_claim largesse.claim;
begin
  select * into v_act from largesse.activity where code = i_code;
  insert into largesse.claim (activity_id, id, user_id, created_at, updated_at, quantity, reward_id, biz_id, status, numbers, points, deadline, step, next_attempt_at)
    values (v_act.id, v_id, i_user, v_at, v_at, i_quantity, v_act.reward_id, 'b' || i_user, i_status, i_numbers, v_act.points_cost * i_quantity,
            case when i_status in ('offered', 'held') then v_at + i_keep end, case i_status when 'issuing' then 'deliver' end, case i_status when 'issuing' then v_at + interval '5 s' end)
    returning * into v_claim;
  if i_status = 'waiting' then
    insert into largesse.waiting_entry (activity_id, claim_id, user_id, quantity) values (v_act.id, v_id, i_user, i_quantity);
    update largesse.stock set waiting = waiting + 1 where activity_id = v_act.id and segment = 0;
  else
    perform largesse.stock_take(v_act.id, i_quantity, null);
    insert into largesse.usage as u select v_act.id, g.user_id, g.period, g.start, g.quantity, g.max_count
        from largesse.claim_allowances(v_act, array[v_claim]) g where g.period <> 'event'
      on conflict (activity_id, user_id, period, period_start) do update set used = u.used + excluded.used;
    insert into largesse.event_usage as u select v_act.event_code, g.user_id, g.quantity, g.max_count
        from largesse.claim_allowances(v_act, array[v_claim]) g where g.period = 'event'
      on conflict (event_code, user_id) do update set used = u.used + excluded.used;
  end if;
  if v_act.exclusive_group is not null then
    insert into largesse.group_member as m values (v_act.exclusive_group, i_user, v_act.id, 1) on conflict (group_name, user_id) do update set live = m.live + 1, activity_id = excluded.activity_id;
  end if;
  update largesse.qualification q set claim_id = v_id where q.activity_id = v_act.id and q.user_id = i_user;
  if v_claim.points is not null then
    update largesse.points_account set balance = balance - v_claim.points where user_id = i_user;
    insert into largesse.points_entry (user_id, key, amount, balance, activity_id, claim_id, at)
      select i_user, 'claim/' || v_act.id || '-' || v_id, - v_claim.points, p.balance, v_act.id, v_id, v_at from largesse.points_account p where p.user_id = i_user;
  end if;
  update largesse.activity_number n set claim_id = v_id, status = case i_status when 'held' then 'held' else 'sold' end where n.activity_id = v_act.id and n.number = any (i_numbers);
  return v_id;
end $$;
create function probe.claim(i_code text, i_user bigint) returns largesse.claim language sql as $$
  select c from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = i_code and c.user_id = i_user order by c.id desc limit 1
$$;
create function probe.move(i_code text, i_user bigint, i_to text) returns text language sql as $$
  select coalesce(max('moved'), 'nothing') from probe.claim(i_code, i_user) k, largesse.claim_move(array[k.activity_id], array[k.id], i_to, null, null, null) m
$$;
create function probe.status(i_code text, i_user bigint) returns text language sql as $$
  select concat_ws(' ', k.status, k.step, case when k.next_attempt_at <= clock_timestamp() then 'due' when k.next_attempt_at is not null then 'later' end,
                   case when k.deadline is not null then 'kept' end, k.failure_code, 'reversal ' || k.reversal) from probe.claim(i_code, i_user) k
$$;
create function probe.cancel(i_code text, i_user bigint, i_reason text default null) returns text language sql as $$
  select coalesce(max(concat_ws(' ', c.outcome, c.doc::json ->> 'status', case when c.is_changed then 'changed' end, c.detail)), 'none')
    from probe.claim(i_code, i_user) k, largesse.claim_cancel(k.activity_id, k.id, i_reason) c
$$;
create function probe.accept(i_code text, i_user bigint) returns text language sql as $$
  select coalesce(max(concat_ws(' ', c.outcome, c.doc::json ->> 'status', case when c.is_changed then 'changed' end, c.provider, c.detail)), 'none')
    from probe.claim(i_code, i_user) k, largesse.claim_accept(k.activity_id, k.id) c
$$;
-- remaining/taken/waiting; what all users use of limits and of the event.
create function probe.books(i_code text) returns text language sql as $$
  select format('%s/%s/%s %s %s', sum(s.remaining), sum(s.taken), sum(s.waiting), coalesce((select sum(u.used) from largesse.usage u where u.activity_id = a.id), 0),
                coalesce((select sum(u.used) from largesse.event_usage u where u.event_code = a.event_code), 0))
    from largesse.activity a join largesse.stock s on s.activity_id = a.id where a.code = i_code group by a.id
$$;
-- Nothing that an audit knows is wrong with an activity.
create function probe.audit(i_code text) returns void language plpgsql as $$
declare v record;
begin
  for v in select a.code, d.name, r.* from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r
            where a.code = i_code and d.name not in ('claim_succeeded_without_delivery', 'claim_reversal_not_confirmed') loop
    raise exception 'audit: %', v;
  end loop;
end $$;

-- --- registrations: cancel, once; what cannot be cancelled

select probe.activity('plain', 'registration', 3);
select probe.make('plain', 1, 'succeeded', 2), probe.make('plain', 2, 'succeeded');
select probe.expect('taken', probe.books('plain'), '0/3/0 3 0');
select probe.expect('cancel', probe.cancel('plain', 1, 'ill'), 'ok cancelled changed');
select probe.expect('given back', probe.books('plain'), '2/1/0 1 0');
select probe.expect('reason', (probe.claim('plain', 1)).failure_code || ' ' || (probe.claim('plain', 1)).failure_detail, 'CANCELLED ill');
select probe.expect('cancel again', probe.cancel('plain', 1), 'ok cancelled');
select probe.expect('given back once', probe.books('plain'), '2/1/0 1 0');
select probe.expect('accepting what was never offered', probe.accept('plain', 2), 'ok succeeded');
select probe.expect('accepting what is cancelled', probe.accept('plain', 1), 'STATE_CONFLICT cancelled a claim that is cancelled cannot be accepted');
select probe.expect('told', string_agg(type, ' ' order by id), 'claim.cancelled') from largesse.event_out where type like 'claim.%';
select probe.expect('no such claim', count(*)::text, '0') from largesse.claim_find('plain', 'nobody');

-- A registration whose reward was delivered owes its reversal.
select probe.activity('gifted', 'registration', 3, 'gift');
select probe.make('gifted', 1, 'succeeded'), probe.make('gifted', 2, 'issuing');
select probe.expect('cancel', probe.cancel('gifted', 1), 'ok cancelled changed');
select probe.expect('owes', probe.status('gifted', 1), 'cancelled reverse due reversal owed');
select probe.expect('while it is delivered', probe.cancel('gifted', 2), 'STATE_CONFLICT issuing a claim that is issuing cannot be cancelled');
select probe.expect('books', probe.books('gifted'), '2/1/0 1 0');

-- --- the rulings: who may cancel what, and what becomes of it

create function probe.ruling(i_kind text, i_status text) returns text language plpgsql as $$
declare
  v_code text := 'ruling-' || i_kind;
  v_user bigint := nextval('probe.users');
begin
  if not exists (select from largesse.activity where code = v_code) then perform probe.activity(v_code, i_kind, 1000, 'gift'); end if;
  insert into largesse.points_account values (v_user, 100);
  insert into largesse.points_entry (user_id, key, amount, balance, at) values (v_user, 'grant/1', 100, 100, now());
  if i_status in ('cancelled', 'expired', 'failed', 'rolled_back') then
    perform probe.make(v_code, v_user, case i_status when 'expired' then 'offered' when 'failed' then 'issuing' else 'succeeded' end);
    perform probe.move(v_code, v_user, i_status);
  else
    perform probe.make(v_code, v_user, i_status);
  end if;
  return probe.cancel(v_code, v_user) || ', ' || probe.cancel(v_code, v_user);
end $$;
create sequence probe.users start 1000;
select probe.expect(k || ' ' || s, probe.ruling(k, s), wanted)
  from (values ('registration', 'waiting', 'ok cancelled changed, ok cancelled'), ('registration', 'offered', 'ok cancelled changed, ok cancelled'),
               ('registration', 'held', 'ok cancelled changed, ok cancelled'), ('registration', 'succeeded', 'ok cancelled changed, ok cancelled'),
               ('registration', 'cancelled', 'ok cancelled, ok cancelled'), ('number', 'held', 'ok cancelled changed, ok cancelled')) t(k, s, wanted);
select probe.expect(k || ' ' || s, probe.ruling(k, s), format('STATE_CONFLICT %s a claim that is %s cannot be cancelled, STATE_CONFLICT %s a claim that is %s cannot be cancelled', s, s, s, s))
  from (values ('registration', 'issuing'), ('registration', 'expired'), ('registration', 'failed'), ('registration', 'rolled_back'), ('reward', 'issuing'), ('reward', 'succeeded'),
               ('reward', 'failed'), ('reward', 'rolled_back'), ('number', 'succeeded'), ('number', 'expired'), ('exchange', 'succeeded'), ('exchange', 'issuing')) t(k, s);
do $$
declare k largesse.claim;
begin
  perform probe.make('gifted', 3, 'succeeded');
  k := probe.claim('gifted', 3);
  perform largesse.claim_reverse(array[k.activity_id], array[k.id]);
end $$;
select probe.expect('while it is taken back', probe.cancel('gifted', 3), 'STATE_CONFLICT succeeded the claim is being taken back');

-- --- everything that a claim holds goes back, whatever ends it: B08, in every period

select probe.activity('all', 'number', 100, 'gift',
  '[{"count": 9, "period": "total"}, {"count": 9, "period": "day"}, {"count": 9, "period": "week"}, {"count": 9, "period": "month"}, {"count": 9, "period": "event"}]', 'fair');
update largesse.activity set exclusive_group = 'one', needs_qualification = true where code = 'all';
insert into largesse.activity_number (activity_id, number) select id, n from largesse.activity, generate_series(1, 100) n where code = 'all';
insert into largesse.qualification (activity_id, user_id, created_at) select id, n, now() from largesse.activity, generate_series(1, 20) n where code = 'all';
create function probe.holds(i_user bigint) returns text language sql as $$
  select format('%s numbers, %s, %s live, %s counters of %s, event %s, %s taken',
    (select count(*) from largesse.activity_number n where n.activity_id = a.id and n.claim_id is not null),
    (select case when q.claim_id is null then 'qualified' else 'qualification used' end from largesse.qualification q where q.activity_id = a.id and q.user_id = i_user),
    (select m.live from largesse.group_member m where m.group_name = 'one' and m.user_id = i_user),
    (select count(*) from largesse.usage u where u.activity_id = a.id and u.user_id = i_user), (select string_agg(distinct u.used::text, ',') from largesse.usage u where u.activity_id = a.id and u.user_id = i_user),
    (select u.used from largesse.event_usage u where u.event_code = 'fair' and u.user_id = i_user),
    (select s.taken from largesse.stock s where s.activity_id = a.id))
    from largesse.activity a where a.code = 'all'
$$;
create function probe.ends(i_user bigint, i_from text, i_to text) returns void language plpgsql as $$
begin
  perform probe.make('all', i_user, i_from, 2, array[i_user * 2, i_user * 2 + 1]);
  perform probe.expect(i_from || ' holds', probe.holds(i_user), '2 numbers, qualification used, 1 live, 4 counters of 2, event 2, 2 taken');
  perform probe.expect(i_from || ' moves', probe.move('all', i_user, i_to), 'moved');
  perform probe.expect(i_from || ' to ' || i_to, probe.holds(i_user), '0 numbers, qualified, 0 live, 4 counters of 0, event 0, 0 taken');
  perform probe.expect(i_from || ' moves once', probe.move('all', i_user, i_to), 'nothing');
end $$;
select probe.ends(1, 'held', 'cancelled'), probe.ends(2, 'held', 'expired'), probe.ends(3, 'issuing', 'failed'), probe.ends(4, 'issuing', 'rolled_back'),
       probe.ends(5, 'succeeded', 'rolled_back'), probe.ends(6, 'succeeded', 'cancelled'), probe.ends(7, 'offered', 'expired'), probe.ends(8, 'offered', 'cancelled');
select probe.audit('all');

-- Paid: held numbers are sold, and due for delivery; nothing is taken twice.
select probe.make('all', 9, 'held', 2, array[50, 51]);
select probe.expect('confirmed', string_agg(c.status, ','), 'issuing') from probe.claim('all', 9) k, largesse.claim_confirm(k.activity_id, array[k.id]) c;
select probe.expect('issuing', probe.status('all', 9), 'issuing deliver due');
select probe.expect('sold', probe.holds(9) || ' ' || (select string_agg(distinct status, ',') from largesse.activity_number where claim_id is not null),
                    '2 numbers, qualification used, 1 live, 4 counters of 2, event 2, 2 taken sold');
select probe.expect('done', probe.move('all', 9, 'succeeded'), 'moved');

-- What A let expire and B bought is B's, whatever becomes of A's claim.
select probe.make('all', 10, 'held', 2, array[60, 61]);
select probe.expect('expired', probe.move('all', 10, 'expired'), 'moved');
select probe.expect('free again', largesse.claim_hold_refusal(probe.claim('all', 10)), null);
select probe.make('all', 11, 'held', 1, array[61]);
select probe.expect('taken', largesse.claim_hold_refusal(probe.claim('all', 10)), 'NUMBER_TAKEN');
do $$ begin
  perform probe.move('all', 10, 'issuing');
  raise exception 'a number was taken from its owner';
exception when serialization_failure then null; end $$;
select probe.expect('news of a delivery brings nothing back', count(*)::text, '0')
  from probe.claim('all', 10) k, largesse.claim_told_done(array[k.activity_id], array[k.id], array['x']) t where t.status = 'succeeded';
select probe.expect('owner', (select claim_id = (probe.claim('all', 11)).id from largesse.activity_number n where number = 61)::text, 'true');
select probe.expect('leaves', probe.move('all', 11, 'cancelled'), 'moved');
update largesse.claim set reversal = null, reversal_since = null, step = 'charge', next_attempt_at = null where user_id = 10;
-- All of it back: numbers, allowance, group, qualification, stock.
select probe.expect('again', probe.move('all', 10, 'issuing'), 'moved');
select probe.expect('holds again', probe.holds(10), '4 numbers, qualification used, 1 live, 4 counters of 2, event 2, 4 taken');
select probe.expect('delivered', probe.move('all', 10, 'succeeded'), 'moved');
-- Each rule that could be against it.
select probe.make('all', 12, 'held', 9, array[70, 71, 72, 73, 74, 75, 76, 77, 78]);
select probe.move('all', 12, 'expired');
select probe.expect('all well', largesse.claim_hold_refusal(probe.claim('all', 12)), null);
update largesse.event_usage set used = 1 where user_id = 12;
select probe.expect('event limit', largesse.claim_hold_refusal(probe.claim('all', 12)), 'LIMIT_REACHED');
update largesse.event_usage set used = 0 where user_id = 12;
update largesse.usage set used = 1 where user_id = 12 and period = 'week';
select probe.expect('week', largesse.claim_hold_refusal(probe.claim('all', 12)), 'LIMIT_REACHED');
update largesse.usage set used = 0 where user_id = 12;
update largesse.qualification set claim_id = 1 where user_id = 12;
select probe.expect('qualification', largesse.claim_hold_refusal(probe.claim('all', 12)), 'NOT_QUALIFIED');
update largesse.qualification set claim_id = null where user_id = 12;
update largesse.group_member set live = 1, activity_id = 1 where user_id = 12;
select probe.expect('group', largesse.claim_hold_refusal(probe.claim('all', 12)), 'EXCLUSIVE_GROUP');
update largesse.group_member set live = 0 where user_id = 12;
update largesse.stock set remaining = 8 where activity_id = (probe.claim('all', 12)).activity_id;
select probe.expect('stock', largesse.claim_hold_refusal(probe.claim('all', 12)), 'SOLD_OUT');
update largesse.stock set remaining = 96 where activity_id = (probe.claim('all', 12)).activity_id;
select probe.audit('all');

-- The allowance of the day, week and month in which the claim was made, in the activity's zone; not of those in which it ends.
select probe.activity('days', 'registration', 100, null, '[{"count": 5, "period": "day"}, {"count": 9, "period": "month"}]');
update largesse.activity set time_zone = 'Asia/Shanghai', start_at = '2026-01-01' where code = 'days';
select probe.make('days', 1, 'succeeded', 2), probe.make('days', 2, 'offered', 3);
update largesse.claim set created_at = '2026-03-31 15:59:59+00' where user_id = 1 and activity_id = (probe.claim('days', 1)).activity_id;   -- 23:59:59 there
update largesse.claim set created_at = '2026-03-31 16:00:00+00' where user_id = 2 and activity_id = (probe.claim('days', 1)).activity_id;   -- midnight there
update largesse.usage set period_start = case user_id when 1 then case period when 'day' then '2026-03-31' else '2026-03-01' end::date else '2026-04-01' end
 where activity_id = (probe.claim('days', 1)).activity_id;
select probe.audit('days');
select probe.cancel('days', 1), probe.cancel('days', 2);
select probe.expect('both gave back', string_agg(user_id || ' ' || period_start || ' ' || used, ', ' order by user_id, period_start), '1 2026-03-01 0, 1 2026-03-31 0, 2 2026-04-01 0, 2 2026-04-01 0')
  from largesse.usage where activity_id = (probe.claim('days', 1)).activity_id;

-- Points come back in full, once, even where the move is seen twice.
select probe.activity('swap', 'exchange', 10, 'gift', '[{"count": 9, "period": "total"}]');
insert into largesse.points_account values (1, 100), (2, 10);
insert into largesse.points_entry (user_id, key, amount, balance, at) values (1, 'grant/1', 100, 100, now()), (2, 'grant/1', 10, 10, now());
select probe.make('swap', 1, 'issuing', 3), probe.make('swap', 2, 'issuing', 1);
select probe.expect('debited', balance::text, '70') from largesse.points_account where user_id = 1;
select largesse.claim_move(array_agg(activity_id), array_agg(id), 'failed', null, null, null) from largesse.claim where activity_id = (probe.claim('swap', 1)).activity_id;
select probe.expect('returned', string_agg(user_id || ': ' || balance, ', ' order by user_id), '1: 100, 2: 10') from largesse.points_account where user_id < 3;
select largesse.points_return(probe.claim('swap', 1));
select probe.expect('ledger', string_agg(key || ' ' || amount || ' ' || balance, ', ' order by id),
  format('grant/1 100 100, claim/%s -30 70, return/%s 30 100', i, i)) from largesse.points_entry, (select k.activity_id || '-' || k.id as i from probe.claim('swap', 1) k) k where user_id = 1 group by i;

-- --- the waiting list

create function probe.seats(i_code text, i_total bigint, i_accept interval default null, i_reward text default null, i_limits jsonb default '[{"count": 9, "period": "total"}]') returns bigint language plpgsql as $$
begin
  perform probe.activity(i_code, 'registration', i_total, i_reward, i_limits);
  update largesse.activity set waiting_max = 100000, accept_within = i_accept where code = i_code;
  return (select id from largesse.activity where code = i_code);
end $$;
-- user:status of all claims, by user
create function probe.crowd(i_code text) returns text language sql as $$
  select string_agg(c.user_id || ':' || c.status, ' ' order by c.user_id) from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = i_code
$$;
-- Whoever comes first goes first; as long as the first does not fit, all wait; without acceptWithin the place is taken at once.
select probe.seats('list', 3);
select probe.make('list', 1, 'succeeded', 1), probe.make('list', 2, 'succeeded', 1), probe.make('list', 3, 'succeeded', 1),
       probe.make('list', 4, 'waiting', 2), probe.make('list', 5, 'waiting', 1), probe.make('list', 6, 'waiting', 1);
select probe.audit('list');
select probe.cancel('list', 1);
select probe.expect('the first does not fit, all wait', probe.crowd('list') || ' ' || probe.books('list'), '1:cancelled 2:succeeded 3:succeeded 4:waiting 5:waiting 6:waiting 1/2/3 2 0');
select probe.cancel('list', 2);
select probe.expect('now it fits', probe.crowd('list') || ' ' || probe.books('list'), '1:cancelled 2:cancelled 3:succeeded 4:succeeded 5:waiting 6:waiting 0/3/2 3 0');
select probe.expect('done, nothing due', probe.status('list', 4), 'succeeded');
select probe.cancel('list', 4);
select probe.expect('two at once', probe.crowd('list') || ' ' || probe.books('list'), '1:cancelled 2:cancelled 3:succeeded 4:cancelled 5:succeeded 6:succeeded 0/3/0 3 0');
select probe.audit('list');
-- Leaving the list: who stood behind a big party moves up.
select probe.make('list', 7, 'waiting', 3), probe.make('list', 8, 'waiting', 1);
select probe.cancel('list', 3);
select probe.expect('all wait for the party', probe.crowd('list'), '1:cancelled 2:cancelled 3:cancelled 4:cancelled 5:succeeded 6:succeeded 7:waiting 8:waiting');
select probe.expect('the party leaves', probe.cancel('list', 7, 'too late'), 'ok cancelled changed');
select probe.expect('who stood behind moves up', probe.crowd('list') || ' ' || probe.books('list'), '1:cancelled 2:cancelled 3:cancelled 4:cancelled 5:succeeded 6:succeeded 7:cancelled 8:succeeded 0/3/0 3 0');
-- More places; while paused nobody moves up, afterwards the due work sees to it; after the end nobody does, and the list is closed in steps.
select probe.make('list', 9, 'waiting', 2), probe.make('list', 10, 'waiting', 1);
select probe.expect('paused', outcome, 'ok') from largesse.activity_action('list', 'pause', 'test', null, null);
select probe.expect('more places', outcome || ' ' || total || ' ' || remaining, 'ok 5 2') from largesse.stock_adjust('list', 'more', 2, 'x', 'test');
select probe.expect('nobody moves up', (probe.claim('list', 9)).status || (select count(*) from largesse.claim_expire(100)), 'waiting0');
select probe.expect('resumed', outcome, 'ok') from largesse.activity_action('list', 'resume', 'test', null, null);
select probe.expect('due work', activity_code || ' ' || claims, 'list 1') from largesse.claim_expire(100);
select probe.expect('moved up', (probe.claim('list', 9)).status || ' ' || (probe.claim('list', 10)).status, 'succeeded waiting');
select probe.expect('nothing more is due', count(*)::text, '0') from largesse.claim_expire(100);
select probe.make('list', u, 'waiting', 1) from generate_series(11, 15) u;
select largesse.activity_advance(1000);
select probe.expect('finished', outcome, 'ok') from largesse.activity_action('list', 'finish', 'test', null, null);
select probe.cancel('list', 9);
select probe.expect('a place returns after the end', probe.books('list'), '2/3/6 3 0');
select probe.expect('in steps', string_agg(claims::text, ' '), '4') from largesse.claim_expire(4);
select probe.expect('in steps', string_agg(claims::text, ' '), '2') from largesse.claim_expire(4);
select probe.expect('closed', string_agg(distinct status || ' ' || failure_code, ','), 'expired NO_PLACE') from largesse.claim where user_id between 10 and 15 and activity_id = (probe.claim('list', 9)).activity_id;
select probe.expect('books', probe.books('list'), '2/3/0 3 0');
select probe.expect('no more', count(*)::text, '0') from largesse.claim_expire(100);
select probe.audit('list');

-- An offer has a deadline of its own, which counts even after the end; what nobody accepts goes to the next.
select probe.seats('offer', 1, '10 minutes', 'gift');
select probe.make('offer', 1, 'succeeded'), probe.make('offer', 2, 'waiting'), probe.make('offer', 3, 'waiting'), probe.make('offer', 4, 'waiting');
select probe.expect('accepting while waiting', probe.accept('offer', 2), 'STATE_CONFLICT waiting a claim that is waiting cannot be accepted');
select probe.cancel('offer', 1);
select probe.expect('offered', probe.status('offer', 2) || ' ' || probe.books('offer'), 'offered kept 0/1/2 1 0');
select probe.expect('ten minutes', ((probe.claim('offer', 2)).deadline - (probe.claim('offer', 2)).updated_at)::text, '00:10:00');
select probe.expect('availability', largesse.activity_availability(id, 1)::text, '{"held": 1, "total": 1, "issued": 0, "waiting": 2, "remaining": 0}') from largesse.activity where code = 'offer';
update largesse.claim set deadline = clock_timestamp() - interval '1 s' where user_id = 2 and activity_id = (probe.claim('offer', 1)).activity_id;
select probe.expect('too late', regexp_replace(probe.accept('offer', 2), 'until .*', 'until'), 'STATE_CONFLICT expired the offer was not accepted until');
select probe.expect('the next', probe.status('offer', 2) || ', ' || probe.status('offer', 3), 'expired OFFER_EXPIRED, offered kept');
select probe.expect('accepted', probe.accept('offer', 3), 'ok issuing changed simulator');
select probe.expect('accepted again', probe.accept('offer', 3), 'ok issuing');
select probe.expect('due', probe.status('offer', 3), 'issuing deliver due');
select probe.expect('told', string_agg(type, ' ' order by id), 'claim.offered claim.expired claim.offered claim.issuing')
  from largesse.event_out where id > (select max(id) from largesse.event_out where type = 'claim.cancelled');
-- Expired by itself.
select probe.move('offer', 3, 'failed');
update largesse.claim set deadline = clock_timestamp() - interval '3 s' where user_id = 4 and activity_id = (probe.claim('offer', 1)).activity_id;
select probe.make('offer', 5, 'waiting');
select probe.expect('expired', activity_code || ' ' || claims || ' ' || (extract(epoch from at - due_at) >= 3), 'offer 1 true') from largesse.claim_expire(100);
select probe.expect('the last one', probe.status('offer', 4) || ', ' || probe.status('offer', 5), 'expired OFFER_EXPIRED, offered kept');
-- After the end of the activity the deadline counts.
select largesse.activity_advance(1000);
select probe.expect('finished', outcome, 'ok') from largesse.activity_action('offer', 'finish', 'test', null, null);
select probe.expect('accepted after the end', probe.accept('offer', 5), 'ok issuing changed simulator');
select probe.audit('offer');

-- Whose allowance is used up while waiting is passed over, and told why. The allowance is that of the day on which they signed up.
select probe.seats('spent', 1, null, null, '[{"count": 1, "period": "day"}]');
select probe.make('spent', 1, 'succeeded'), probe.make('spent', 2, 'waiting'), probe.make('spent', 3, 'waiting'), probe.make('spent', 4, 'waiting');
update largesse.claim set created_at = created_at - interval '1 day' where activity_id = (probe.claim('spent', 1)).activity_id and user_id = 3;
update largesse.activity set start_at = now() - interval '3 days' where code = 'spent';
insert into largesse.usage select activity_id, 2, 'day', current_date, 1, 1 from probe.claim('spent', 1);
insert into largesse.usage select activity_id, 3, 'day', current_date, 1, 1 from probe.claim('spent', 1);   -- today's; his claim is of yesterday
select probe.cancel('spent', 1);
select probe.expect('passed over', probe.status('spent', 2) || ', ' || probe.status('spent', 3) || ', ' || probe.status('spent', 4), 'expired LIMIT_REACHED, succeeded, waiting');
delete from largesse.usage u where u.activity_id = (probe.claim('spent', 1)).activity_id and u.user_id in (2, 3) and u.period_start = current_date;
select probe.audit('spent');

-- Ten thousand places at once: a hundred in the transaction that adds them, the rest as due work; nobody twice, in order.
select probe.seats('flood', 0, '1 hour');
insert into largesse.claim (activity_id, user_id, created_at, updated_at, quantity, biz_id, status) select a.id, n, now(), now(), 1 + n % 3, 'b' || n, 'waiting' from largesse.activity a, generate_series(1, 450) n where a.code = 'flood';
insert into largesse.waiting_entry (activity_id, claim_id, user_id, quantity) select c.activity_id, c.id, c.user_id, c.quantity from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = 'flood' order by c.user_id;
update largesse.stock set waiting = 450 where activity_id = (probe.claim('flood', 1)).activity_id;
select probe.expect('added', outcome || ' ' || total || ' ' || remaining, 'ok 10000 9800') from largesse.stock_adjust('flood', 'lots', 10000, 'x', 'test');
select probe.expect('replayed', outcome || ' ' || total || ' ' || remaining, 'replayed 10000 9800') from largesse.stock_adjust('flood', 'lots', 10000, 'x', 'test');
select probe.expect('the first hundred', min(user_id) || '-' || max(user_id) || ' ' || count(*), '1-100 100') from largesse.claim where status = 'offered' and activity_id = (probe.claim('flood', 1)).activity_id;
create function probe.steps() returns text language plpgsql as $$
declare
  v_steps text;
  v_step  int;
begin
  loop
    select claims into v_step from largesse.claim_expire(100);
    exit when not found;
    v_steps := concat_ws(' ', v_steps, v_step);
  end loop;
  return v_steps;
end $$;
select probe.expect('steps', probe.steps(), '100 100 100 50');
select probe.expect('all', probe.books('flood'), '9100/900/0 900 0');
select probe.expect('told once each', count(distinct e)::text || ' of ' || count(*), '450 of 450') from largesse.event_out o, unnest(o.event_ids) e where o.type = 'claim.offered' and e like (probe.claim('flood', 1)).activity_id || '-%';
select probe.audit('flood');

-- --- segments

select probe.activity('split', 'registration', 10, null, '[]');
update largesse.activity set segments = 4 where code = 'split';
update largesse.stock set remaining = 4 where activity_id = (select id from largesse.activity where code = 'split');
insert into largesse.stock (activity_id, segment, remaining) select a.id, n, 2 from largesse.activity a, generate_series(1, 3) n where a.code = 'split';
create function probe.segments() returns text language sql as $$
  select string_agg(s.remaining || '/' || s.taken, ' ' order by s.segment) from largesse.stock s join largesse.activity a on a.id = s.activity_id where a.code = 'split'
$$;
select probe.make('split', 1, 'succeeded', 7), probe.make('split', 2, 'succeeded', 3);
select probe.expect('taken from all', probe.segments(), '0/4 0/2 0/2 0/2');
select probe.expect('in use', outcome || ' ' || remaining, 'STOCK_IN_USE 0') from largesse.stock_adjust('split', 'a', -1, 'x', 'test');
select probe.cancel('split', 1);
select probe.expect('given back to who gave', probe.segments(), '4/0 2/0 1/1 0/2');
select probe.expect('more', outcome || ' ' || total || ' ' || remaining, 'ok 16 13') from largesse.stock_adjust('split', 'b', 6, 'x', 'test');
select probe.expect('spread', probe.segments(), '5/0 3/0 3/1 2/2');
select probe.audit('split');
select probe.expect('less than is free', outcome || ' ' || total || ' ' || remaining, 'ok 5 2') from largesse.stock_adjust('split', 'c', -11, 'x', 'test');
select probe.expect('taken where most was', probe.segments(), '0/0 0/0 0/1 2/2');
select probe.expect('more than is free', outcome || ' ' || remaining, 'STOCK_IN_USE 2') from largesse.stock_adjust('split', 'd', -3, 'x', 'test');
select probe.cancel('split', 2);
select probe.expect('free', probe.segments(), '0/0 0/0 1/0 4/0');
select probe.audit('split');

-- --- roll back by operation: what was not delivered to anybody outside is rolled back at once, what was is taken back first

create function probe.roll_back(i_code text, i_user bigint) returns text language plpgsql as $$
declare
  k largesse.claim := probe.claim(i_code, i_user);
  v_op bigint;
begin
  select operation_id into v_op from largesse.operation_begin('roll_back', '{}', array[k.activity_id], array[k.id], null, null, null, null, 'alice', 'why', null, true, 1000, null);
  perform largesse.operation_step(v_op, 10);
  return (select outcome from largesse.operation_item where operation_id = v_op) || ', ' || probe.status(i_code, i_user);
end $$;
select largesse.provider_register('f1', array['simulator'], array[4], array[0], array[true], array[true], array[true]);
select probe.seats('undo', 1);
select probe.make('undo', 1, 'succeeded'), probe.make('undo', 2, 'waiting');
select probe.expect('a place', probe.roll_back('undo', 1), 'rolled_back, rolled_back');
select probe.expect('goes to who waits', probe.status('undo', 2), 'succeeded');
select probe.expect('again', probe.roll_back('undo', 1), 'already_done, rolled_back');
select probe.expect('numbers with a delivery', probe.roll_back('all', 9), 'reversing, succeeded reverse due reversal owed');
select largesse.claim_reversal_end(array[k.activity_id], array[k.id], array['done']) from probe.claim('all', 9) k;
select probe.expect('free again', probe.holds(9), '2 numbers, qualified, 0 live, 4 counters of 0, event 0, 2 taken');   -- those of user 10
insert into largesse.points_account values (3, 40);
insert into largesse.points_entry (user_id, key, amount, balance, at) values (3, 'grant/1', 40, 40, now());
select probe.make('swap', 3, 'succeeded', 4);
select probe.expect('an exchange', probe.roll_back('swap', 3), 'reversing, succeeded reverse due reversal owed');
select largesse.claim_reversal_end(array[k.activity_id], array[k.id], array['done']) from probe.claim('swap', 3) k;
select probe.expect('points are back', balance::text, '40') from largesse.points_account where user_id = 3;
select probe.audit(c) from unnest(array['swap', 'all', 'undo', 'plain', 'gifted', 'ruling-registration', 'ruling-number', 'ruling-exchange', 'ruling-reward']) c;

-- --- an activity whose books are wrong holds up no other, and a claim whose books are wrong no other one

select probe.seats('wrong', 2), probe.seats('right', 1);
select probe.make('wrong', 1, 'offered', 1, null, '-2 minutes'), probe.make('wrong', 2, 'offered', 1, null, '-2 minutes'), probe.make('right', 1, 'offered', 1, null, '-1 minute');
update largesse.usage set used = 0 where activity_id = (probe.claim('wrong', 1)).activity_id and user_id = 1;
set client_min_messages = error;
select probe.expect('the others of it', activity_code || ' ' || claims, 'wrong 1') from largesse.claim_expire(100);
select probe.expect('the other one', activity_code || ' ' || claims, 'right 1') from largesse.claim_expire(100);
select probe.expect('nothing more', count(*)::text, '0') from largesse.claim_expire(100);
reset client_min_messages;
select probe.expect('stays', probe.status('wrong', 1) || ' ' || probe.status('wrong', 2) || ' ' || probe.status('right', 1), 'offered kept expired OFFER_EXPIRED expired OFFER_EXPIRED');
update largesse.usage set used = 1 where activity_id = (probe.claim('wrong', 1)).activity_id and user_id = 1;
select probe.expect('mended', activity_code || ' ' || claims, 'wrong 1') from largesse.claim_expire(100);

-- --- each audit sees the row that was damaged for it

create function probe.damage(i_audit text, i_what text, i_wanted text) returns void language plpgsql as $$
declare v_found text;
begin
  execute i_what;
  select string_agg(d.name || ': ' || r.subject || ', ' || r.expected || ', ' || r.actual, '; ') into v_found
    from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r
   where a.code in ('all', 'flood', 'split', 'other') and d.name not in ('claim_succeeded_without_delivery', 'claim_reversal_not_confirmed');
  perform probe.expect(i_what, v_found, i_audit || ': ' || i_wanted);
  raise exception 'undo' using errcode = 'LG000';
exception when sqlstate 'LG000' then null;
end $$;
select probe.make('flood', 9001, 'waiting', 2);
select probe.damage('event_usage_not_matching_claims', 'update largesse.event_usage set used = 3 where user_id = 10', 'event usage user 10, used 2, used 3'),
       probe.damage('event_usage_not_matching_claims', 'insert into largesse.event_usage values (''fair'', 77, 1, 9)', 'event usage user 77, used 0, used 1'),
       probe.damage('event_usage_not_matching_claims', 'delete from largesse.event_usage where user_id = 10', 'event usage user 10, used 2, no counter'),
       probe.damage('group_member_not_matching_claims', 'update largesse.group_member set live = 2 where user_id = 10', 'group member 10, 1 live claims here, 2 live claims in activity ' || (probe.claim('all', 10)).activity_id),
       probe.damage('group_member_not_matching_claims', 'delete from largesse.group_member where user_id = 10', 'group member 10, 1 live claims here, not in the group'),
       probe.damage('waiting_list_not_matching_claims', 'update largesse.waiting_entry set quantity = 3 where user_id = 9001',
                    format('claim %s, user 9001 waits for 2, user 9001 in the list for 3', (probe.claim('flood', 9001)).id)),
       probe.damage('waiting_list_not_matching_claims', 'update largesse.stock set waiting = 2 where waiting = 1 and activity_id = (probe.claim(''flood'', 1)).activity_id', 'waiting, 1 in the list, the stock row says 2'),
       probe.damage('waiting_list_not_matching_claims', 'with gone as (delete from largesse.waiting_entry where user_id = 9001) update largesse.stock set waiting = 0 where activity_id = (probe.claim(''flood'', 1)).activity_id',
                    format('claim %s, user 9001 waits for 2, not in the list', (probe.claim('flood', 9001)).id)),
       probe.damage('stock_not_matching_claims', 'update largesse.stock set remaining = remaining + 1 where segment = 2', 'stock, claims 0 + remaining 5 = total 5; taken 0, claims 0 + remaining 6 = 6; taken 0; set wrongly'),
       probe.damage('usage_not_matching_claims', 'update largesse.usage set used = 1 where user_id = 10 and period = ''week''',
                    format('usage user 10 week %s, used 2, used 1', date_trunc('week', now() at time zone 'UTC')::date));
do $$
declare
  v_late timestamptz := clock_timestamp() - interval '6 minutes';
begin
  perform probe.damage('claim_kept_past_deadline', format('update largesse.claim set deadline = %L where id = %s', v_late, (probe.claim('flood', 1)).id),
                       format('claim %s, expired at %s, still offered', (probe.claim('flood', 1)).id, largesse.time_text(v_late)));
end $$;
-- Two activities of a group: who is in it by one of them only is seen too.
select probe.activity('other', 'registration', 10);
update largesse.activity set exclusive_group = 'one' where code = 'other';
select probe.damage('group_member_not_matching_claims',
  format('update largesse.claim set user_id = 10 where id = %s', probe.make('other', 9955, 'succeeded')) || '; update largesse.usage set user_id = 10 where user_id = 9955; delete from largesse.group_member where user_id = 9955',
  format('group member 10, 1 live claims here, 1 live claims in activity %s; user_in_two_activities_of_group: user 10 in all, live claims in one activity of the group, claim %s-%s lives too',
         k.activity_id, k.activity_id, k.id))
  from probe.claim('all', 10) k;
