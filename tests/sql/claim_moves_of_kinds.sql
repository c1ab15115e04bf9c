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
    perform largesse.stock_take_any(v_act.id, i_quantity);
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
-- Nothing that an audit knows is wrong.
create function probe.audit() returns void language plpgsql as $$
declare v record;
begin
  for v in select a.code, d.name, r.* from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r
            where d.name not in ('claim_succeeded_without_delivery') loop
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
