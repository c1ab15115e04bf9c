-- SPDX-License-Identifier: Apache-2.0
-- A dry run says what the claim is then told: seeded random requests over activities with random rules, each first asked for and then made. What is accepted changes
-- what the next ones meet: limits of every period, groups, points, qualifications, numbers, places and the waiting list. Field case B77.
create schema probe;
select setseed(0.4711);

create table probe.rule_seen (verdict text primary key, times int not null);

insert into largesse.event (code, name, time_zone, created_at, updated_at) values ('festival', 'festival', 'Asia/Shanghai', now(), now());
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
insert into largesse.reward (code, provider, amount, currency, created_at, purpose)
  select 'n' || k, 'simulator', 500, 'CNY', now(), 'payment' from generate_series(1, 60) k;
insert into largesse.user_attribute select u, jsonb_build_object('level', u % 10, 'city', case u % 3 when 0 then 'Xi''an' else 'Kyiv' end), now() from generate_series(1, 40) u where u % 7 > 0;
insert into largesse.user_progress select u, 'steps', u * 100, now() from generate_series(1, 40) u where u % 5 > 0;
insert into largesse.points_account select u, u * 50 from generate_series(1, 40) u where u % 6 > 0;
insert into largesse.points_entry (user_id, key, amount, balance, at) select u.user_id, 'grant/first', u.balance, u.balance, now() from largesse.points_account u where u.balance > 0;

-- One activity of a kind with random rules. Its window is mostly open; some have not begun, are over, paused or drafts.
create function probe.make(i_n int, i_kind text) returns text language plpgsql as $$
declare
  v_code   text := i_kind || '-' || i_n;
  v_id     bigint;
  v_shift  interval := case when random() < 0.88 then '0' when random() < 0.5 then interval '3 days' else interval '-3 days' end;
  v_total  bigint := case when random() < 0.3 and i_kind <> 'number' then null else 2 + (random() * 25)::int end;
  v_limits jsonb := (select coalesce(jsonb_agg(jsonb_build_object('period', p, 'count', 1 + (random() * 3)::int)), '[]')
                       from unnest(array['total', 'day', 'week', 'month']) p where random() < 0.35);
begin
  perform largesse.activity_put(jsonb_build_object('code', v_code, 'name', v_code, 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
    'startAt', now() - interval '1 day' + v_shift, 'endAt', now() + interval '1 day' + v_shift, 'stock', jsonb_build_object('total', v_total), 'limits', v_limits), 'test', null);
  select id into v_id from largesse.activity where code = v_code;
  update largesse.activity a
     set kind = i_kind,
         event_code = case when random() < 0.3 then 'festival' end,
         channels = case when random() < 0.2 then array['APP', 'WEB'] end,
         eligibility = case when random() < 0.3 then (array['$.user.level >= 4', '$.user.city == "Kyiv" && $.request.channel == "APP"', '$.progress.steps > 1500',
                                                            '$.user.level.datetime() > 3', '$.request.quantity < 2'])[1 + (random() * 4)::int] end,
         needs_qualification = random() < 0.25,
         exclusive_group = case when random() < 0.3 then 'g' || (random() * 1)::int end,
         points_cost = case when i_kind = 'exchange' then 100 end,
         payment_id = case when i_kind = 'number' and random() < 0.7 then (select r.id from largesse.reward r where r.code = 'n' || i_n and r.purpose = 'payment') end,
         reward_id = case when i_kind in ('registration', 'number') and random() < 0.6 then null else a.reward_id end,
         sign_up_again = random() < 0.5,
         waiting_max = case when i_kind = 'registration' and v_total is not null and random() < 0.6 then 1 + (random() * 4)::int end,
         segments = case when i_kind in ('reward', 'exchange') and random() < 0.2 then 3 else 1 end
   where a.id = v_id;
  insert into largesse.activity_limit select v_id, 'event', 2 from largesse.activity a where a.id = v_id and a.event_code is not null;
  if random() < 0.95 then perform largesse.activity_action(v_code, 'publish', 'test', null, null); end if;
  insert into largesse.qualification (activity_id, user_id, created_at)
    select v_id, u, now() from largesse.activity a, generate_series(1, 40) u where a.id = v_id and a.needs_qualification and random() < 0.7;
  insert into largesse.blocked_user (activity_id, user_id, actor, at) select v_id, u, 'test', now() from generate_series(1, 40) u where random() < 0.05;
  insert into largesse.activity_number (activity_id, number) select v_id, k from generate_series(1, 30) k where i_kind = 'number';
  if random() < 0.06 then update largesse.activity a set status = 'paused' where a.id = v_id and a.status in ('published', 'ongoing'); end if;
  if random() < 0.05 then update largesse.activity a set end_at = now() - interval '1 hour' where a.id = v_id and a.start_at < now() - interval '1 hour'; end if;
  return v_code;
end $$;

-- Stock in segments, as publishing deals it out. Written here so that the test does not depend on how that is done.
create function probe.deal(i_id bigint) returns void language plpgsql as $$
declare v_segments int := (select segments from largesse.activity where id = i_id); v_left bigint := (select sum(remaining) from largesse.stock where activity_id = i_id);
begin
  if v_segments = 1 or (select count(*) from largesse.stock where activity_id = i_id) > 1 then return; end if;
  update largesse.stock set remaining = v_left - (v_left / v_segments) * (v_segments - 1) where activity_id = i_id and segment = 0;
  insert into largesse.stock (activity_id, segment, remaining) select i_id, k, v_left / v_segments from generate_series(1, v_segments - 1) k;
end $$;

select probe.make(k, kind) from unnest(array['reward', 'registration', 'number', 'exchange']) with ordinality kinds(kind, nth), generate_series(1, 30) k;
select probe.deal(id) from largesse.activity;

-- Asks, claims, and compares. A verdict INVALID_REQUEST of both counts as equal.
create function probe.ask(i_code text, i_user bigint, i_biz text, i_quantity int, i_channel text, i_numbers bigint[], i_at timestamptz) returns void language plpgsql as $$
declare
  v_id        bigint := (select id from largesse.activity where code = i_code);
  v_explained record;
  v_said      record;
  v_checks    jsonb;
begin
  select * into v_explained from largesse.claim_explain(i_code, i_user, i_biz, i_quantity, i_channel, i_numbers, i_at);
  select s.verdict, s.status, s.detail into v_said
    from largesse.claim_submit(v_id, array[i_biz], array[i_user], array[i_quantity], array[i_channel], '5 s',
                               case when i_numbers is not null then array_fill(1, array[cardinality(i_numbers)]) end, i_numbers, case when i_at is not null then array[i_at] end, null) s where s.ord = 1;
  if v_explained.verdict is distinct from v_said.verdict then
    raise exception '%: dry run says %, the claim was told % (user %, % of %, channel %, numbers %, at %): % / %', i_code, v_explained.verdict, v_said.verdict, i_user,
      i_biz, i_quantity, i_channel, i_numbers, i_at, v_explained.detail, v_said.detail;
  end if;
  v_checks := v_explained.detail::jsonb -> 'checks';
  if (v_explained.detail::jsonb ->> 'allowed')::boolean <> (v_said.verdict in ('ACCEPTED', 'REPLAYED'))
     or v_said.verdict = 'ACCEPTED' and v_explained.detail::jsonb ->> 'status' <> v_said.status
     or v_said.verdict not in ('ACCEPTED', 'REPLAYED') and v_explained.detail::jsonb ->> 'code' <> v_said.verdict
     or (v_said.verdict in ('ACCEPTED', 'REPLAYED')) <> not exists (select from jsonb_array_elements(v_checks) c where not (c -> 'ok')::boolean) then
    raise exception '%: the answer contradicts itself or the claim (%, %): %', i_code, v_said.verdict, v_said.status, v_explained.detail;
  end if;
  insert into probe.rule_seen as r values (v_said.verdict || case when v_said.verdict = 'ACCEPTED' then ' ' || v_said.status else '' end, 1) on conflict (verdict) do update set times = r.times + 1;
end $$;

do $$
declare
  v_code text; v_kind text; v_numbers bigint[]; v_quantity int; v_again record;
begin
  for i in 1 .. 2000 loop
    select a.code, a.kind into v_code, v_kind from largesse.activity a order by random() limit 1;
    v_numbers := case when v_kind = 'number' then (select array_agg(distinct 1 + (random() * 30)::bigint) from generate_series(1, 1 + (random() * 2)::int)) end;
    if i % 12 = 0 then  -- a click once more
      select a.code, c.user_id, c.biz_id, c.quantity, c.channel, c.numbers into v_again
        from largesse.claim c join largesse.activity a on a.id = c.activity_id order by random() limit 1;
      perform probe.ask(v_again.code, v_again.user_id, v_again.biz_id, v_again.quantity, v_again.channel, v_again.numbers, null);
      continue;
    end if;
    v_quantity := coalesce(cardinality(v_numbers), 1 + (random() * 1.6)::int);
    -- Another instant: what a request that was queued then would be told.
    perform probe.ask(v_code, 1 + (random() * 39)::bigint, 'b' || (random() * 60)::int, v_quantity,
                      (array['APP', 'WEB', 'SMS', null])[1 + (random() * 3)::int], v_numbers,
                      case when random() < 0.3 then now() + interval '1 hour' * ((random() - 0.5) * 100)::int end);
  end loop;
end $$;

do $$
declare v_missing text[];
begin
  select array_agg(code) into v_missing from unnest(array['ACCEPTED issuing', 'ACCEPTED held', 'ACCEPTED succeeded', 'ACCEPTED waiting', 'REPLAYED', 'BIZ_ID_REUSED', 'ACTIVITY_NOT_FOUND', 'NOT_STARTED', 'PAUSED', 'ENDED', 'LIMIT_REACHED', 'ALREADY_REGISTERED',
      'BLOCKED', 'CHANNEL_NOT_ALLOWED', 'NOT_QUALIFIED', 'QUALIFICATION_USED', 'NOT_ELIGIBLE', 'EXCLUSIVE_GROUP', 'INSUFFICIENT_POINTS', 'SOLD_OUT', 'NUMBER_TAKEN']) code
   where not exists (select from probe.rule_seen r where r.verdict = code);
  if v_missing is not null then raise exception 'the requests are too tame: never %', v_missing; end if;
end $$;

-- A price whose product with the quantity no integer holds: nobody has that much.
update largesse.activity set points_cost = 9223372036854775807 where kind = 'exchange';
select probe.ask(a.code, 1, 'dear', 2, 'APP', null, null) from largesse.activity a where a.kind = 'exchange';
