-- SPDX-License-Identifier: Apache-2.0
-- As claim_batch_equals_one_by_one, for every kind and rule: the same seeded requests in batches of many sizes, and one by one on a second activity for users
-- who have the same attributes, points, qualifications and claims elsewhere: equal answers, equal rows.
create schema probe;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
insert into largesse.reward (code, provider, amount, currency, purpose, created_at) values ('price', 'payments', 500, 'CNY', 'payment', now());
insert into largesse.event (code, name, time_zone, created_at, updated_at) select 'e-' || n, 'e', 'UTC', now(), now() from unnest(array['a', 'b']) n;
create table probe.shift (side text primary key, users bigint);
insert into probe.shift values ('a', 0), ('b', 1000000);

-- The activity of one side, with its users (1 to i_users, shifted) and numbers (1 to i_numbers). Everything about a user depends on his number alone.
create function probe.make(i_name text, i_side text, i_kind text, i_total bigint, i_limits text[], i_columns text, i_users int, i_numbers int) returns bigint language plpgsql as $$
declare v_id bigint; v_code text := i_name || '-' || i_side; v_shift bigint := (select users from probe.shift where side = i_side); v_other bigint;
begin
  foreach v_code in array array[i_name || '-other-' || i_side, i_name || '-' || i_side] loop
    perform largesse.activity_put(jsonb_build_object('code', v_code, 'name', 'x', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe', 'startAt', now() - interval '1 hour',
      'endAt', now() + interval '1 day', 'stock', jsonb_build_object('total', i_total), 'limits', '[]'::jsonb), 'test', null);
    v_other := v_id;
    select id into v_id from largesse.activity where code = v_code;
  end loop;
  update largesse.activity set kind = i_kind, points_cost = case i_kind when 'exchange' then 100 end, event_code = 'e-' || i_side where id = v_id;
  execute format('update largesse.activity set %s where id = %s', replace(i_columns, '$side', i_side), v_id);
  insert into largesse.activity_limit select v_id, split_part(l, ' ', 1), split_part(l, ' ', 2)::bigint from unnest(i_limits) l;
  update largesse.activity set status = case when i_columns like '%finished%' then 'finished' else 'ongoing' end where id = v_id;
  insert into largesse.stock (activity_id, segment, remaining) select v_id, n, i_total / 4 from generate_series(1, 3) n where i_columns like '%segments%';
  update largesse.stock set remaining = i_total / 4 where activity_id = v_id and i_columns like '%segments%';
  delete from largesse.user_attribute where user_id between v_shift and v_shift + 9999; delete from largesse.points_account where user_id between v_shift and v_shift + 9999;
  delete from largesse.points_entry where user_id between v_shift and v_shift + 9999; delete from largesse.event_usage where user_id between v_shift and v_shift + 9999;
  insert into largesse.user_attribute select v_shift + n, jsonb_build_object('level', case n % 7 when 0 then to_jsonb('x'::text) else to_jsonb(n % 5) end), now() from generate_series(1, i_users) n;
  insert into largesse.points_account select v_shift + n, (n % 6) * 100 from generate_series(1, i_users) n where n % 4 > 0;
  insert into largesse.qualification (activity_id, user_id, claim_id, created_at) select v_id, v_shift + n, case n % 9 when 0 then -1 end, now() from generate_series(1, i_users) n where n % 5 > 0;
  insert into largesse.blocked_user select v_id, v_shift + n, 'x', 'test', now() from generate_series(1, i_users) n where n % 11 = 0 and i_columns like '%eligibility%';
  insert into largesse.group_member select 'g-' || i_name || i_side, v_shift + n, v_other, n % 2 from generate_series(1, i_users) n where n % 10 in (3, 4);
  insert into largesse.activity_number (activity_id, number) select v_id, n from generate_series(1, i_numbers) n;
  return v_id;
end $$;

create function probe.bare(i_detail text) returns jsonb language sql as $$
  select (d - '{claimId,userId,activityCode,createdAt,updatedAt,delivery,holdUntil,payment,exclusiveGroup}'::text[]) #- '{claim,claimId}' #- '{claim,userId}' #- '{claim,activityCode}' #- '{claim,createdAt}' #- '{claim,updatedAt}' #- '{claim,delivery}'
    from (select case when i_detail like '{%' then i_detail::jsonb end as d) d
$$;
-- All rows of one side, without what differs by nature.
create function probe.rows(i_id bigint, i_side text, i_name text) returns table (x text) language sql as $$
  with s as (select users from probe.shift where side = i_side)
  select concat_ws(' ', 'claim', c.biz_id, c.user_id - s.users, c.quantity, c.status, c.step, c.channel, c.numbers, c.points, c.payment, c.deadline is null, c.next_attempt_at is null) from largesse.claim c, s where c.activity_id = i_id
  union all select concat_ws(' ', 'usage', u.user_id - s.users, u.period, u.used) from largesse.usage u, s where u.activity_id = i_id
  union all select concat_ws(' ', 'event', u.user_id - s.users, u.used) from largesse.event_usage u, s where u.event_code = 'e-' || i_side
  union all select concat_ws(' ', 'group', m.user_id - s.users, m.activity_id = i_id, m.live) from largesse.group_member m, s where m.group_name = 'g-' || i_name || i_side
  union all select concat_ws(' ', 'qualification', q.user_id - s.users, c.biz_id, q.claim_id is null) from s, largesse.qualification q left join largesse.claim c on c.activity_id = q.activity_id and c.id = q.claim_id where q.activity_id = i_id
  union all select concat_ws(' ', 'points', p.user_id - s.users, p.balance) from largesse.points_account p, s where p.user_id between s.users and s.users + 9999
  union all select concat_ws(' ', 'entry', c.biz_id, e.amount, e.balance) from largesse.points_entry e join largesse.claim c on c.activity_id = e.activity_id and c.id = e.claim_id where e.activity_id = i_id
  union all select concat_ws(' ', 'number', n.number, n.status, c.biz_id) from largesse.activity_number n left join largesse.claim c on c.activity_id = n.activity_id and c.id = n.claim_id where n.activity_id = i_id
  union all select concat_ws(' ', 'waiting', row_number() over (order by w.position), w.user_id - s.users, w.quantity, c.biz_id) from s, largesse.waiting_entry w join largesse.claim c on c.activity_id = w.activity_id and c.id = w.claim_id where w.activity_id = i_id
  union all select concat_ws(' ', 'stock', sum(t.remaining), sum(t.taken), sum(t.waiting)) from largesse.stock t where t.activity_id = i_id
  union all select concat_ws(' ', 'told', count(*)) from largesse.event_out o, unnest(o.subjects) d(subject) where d.subject like i_id || '-%'
$$;

create temp table request (); create temp table answer_a (); create temp table answer_b ();
create function probe.compare(i_seed float, i_name text, i_kind text, i_rows int, i_users int, i_keys int, i_total bigint, i_limits text[], i_columns text, i_numbers int, i_verdicts text[]) returns void language plpgsql as $$
declare
  v_a bigint := probe.make(i_name, 'a', i_kind, i_total, i_limits, i_columns, i_users + 1, i_numbers);
  v_b bigint := probe.make(i_name, 'b', i_kind, i_total, i_limits, i_columns, i_users + 1, i_numbers);
  v_shift bigint := (select users from probe.shift where side = 'b');
  v_at int := 1; v_size int; v_n int; v_text text; v record;
begin
  perform setseed(i_seed);
  drop table request, answer_a, answer_b;
  create temp table request as
    select n, 'k' || (random() * i_keys)::int as biz, 1 + (random() * i_users)::bigint as usr, 1 + (random() * 1.4)::int as qty, case when random() < 0.7 then 'APP' when random() < 0.5 then 'WEB' end as channel,
           case when random() < 0.3 then now() - random() * interval '40 minutes' end as queued, null::bigint[] as numbers
      from generate_series(1, i_rows) n order by n;
  if i_numbers > 0 then
    update request r set numbers = t.numbers, qty = cardinality(t.numbers)
      from (select n, array_agg(distinct 1 + floor(random() * i_numbers * 1.05)::bigint) as numbers from request, generate_series(1, qty) group by n) t where t.n = r.n;
  end if;
  update request r set usr = f.usr, qty = f.qty, channel = f.channel, numbers = f.numbers
    from (select distinct on (biz) * from request order by biz, n) f where f.biz = r.biz and r.n % 2 = 0;
  if i_columns not like '%finished%' then update request set queued = null; end if;
  create temp table answer_a (n int, verdict text, status text, detail text);
  create temp table answer_b (n int, verdict text, status text, detail text);
  while v_at <= i_rows loop
    v_size := 1 + (random() * 60)::int;
    insert into answer_a
      select v_at - 1 + s.ord, s.verdict, s.status, s.detail
        from (select array_agg(biz order by n) b, array_agg(usr order by n) u, array_agg(qty order by n) q, array_agg(channel order by n) c, array_agg(queued order by n) at from request where n >= v_at and n < v_at + v_size) r
        cross join (select array_agg(n - v_at + 1) as o, array_agg(x) as x from request, unnest(numbers) x where n >= v_at and n < v_at + v_size) x
        cross join lateral largesse.claim_submit(v_a, r.b, r.u, r.q, r.c, '5 s', x.o, x.x, case when (select bool_or(t is not null) from unnest(r.at) t) then r.at end, case when v_at % 3 = 0 then v_at % 4 end) s where s.ord > 0;
    v_at := v_at + v_size;
  end loop;
  for v in select * from request order by n loop
    insert into answer_b
      select v.n, s.verdict, s.status, s.detail
        from largesse.claim_submit(v_b, array[v.biz], array[v.usr + v_shift], array[v.qty], array[v.channel], '5 s', array_fill(1, array[coalesce(cardinality(v.numbers), 0)]), v.numbers, case when v.queued is not null then array[v.queued] end) s where s.ord > 0;
  end loop;
  select count(*), min(format('%s: %s %s %s / %s %s %s', n, a.verdict, a.status, probe.bare(a.detail), b.verdict, b.status, probe.bare(b.detail))) into v_n, v_text from answer_a a full join answer_b b using (n)
    where (a.verdict, a.status) is distinct from (b.verdict, b.status) or probe.bare(a.detail) is distinct from probe.bare(b.detail);
  if v_n > 0 then raise exception '%: % answers differ: %', i_name, v_n, v_text; end if;
  select array_agg(w) into i_verdicts from unnest(i_verdicts) w where w not in (select verdict || coalesce('.' || case verdict when 'ACCEPTED' then status end, '') from answer_a);
  if i_verdicts is not null then raise exception '%: the requests are too tame, nobody hears %', i_name, i_verdicts; end if;
  select string_agg(x, '; ') into v_text from (
    (select 'batch: ' || x from probe.rows(v_a, 'a', i_name) except all select 'batch: ' || x from probe.rows(v_b, 'b', i_name))
    union all (select 'single: ' || x from probe.rows(v_b, 'b', i_name) except all select 'single: ' || x from probe.rows(v_a, 'a', i_name)) limit 10) t(x);
  if v_text is not null then raise exception '%: rows differ: %', i_name, v_text; end if;
end $$;

select probe.compare(0.1, 'places', 'registration', 400, 100, 260, 40, '{total 2}', 'reward_id = null, waiting_max = 15', 0, '{ACCEPTED.succeeded,ACCEPTED.waiting,ALREADY_REGISTERED,SOLD_OUT,REPLAYED,BIZ_ID_REUSED}');
select probe.compare(0.2, 'roomy', 'registration', 300, 200, 5000, 100000, '{}', 'waiting_max = 5', 0, '{ACCEPTED.issuing,REPLAYED}');
select probe.compare(0.3, 'shop', 'exchange', 400, 200, 330, 100, '{total 3}', 'event_code = ''e-$side''', 0, '{ACCEPTED.issuing,INSUFFICIENT_POINTS,LIMIT_REACHED,REPLAYED,BIZ_ID_REUSED}');
select probe.compare(0.4, 'lot', 'number', 400, 150, 330, 90, '{total 9}', 'payment_id = (select max(id) from largesse.reward where code = ''price'')', 500, '{ACCEPTED.held,NUMBER_TAKEN,SOLD_OUT,REPLAYED,BIZ_ID_REUSED}');
select probe.compare(0.5, 'all', 'reward', 700, 350, 500, 10000, '{total 4,day 3,event 2}',
  'channels = ''{APP,WEB}'', needs_qualification = true, eligibility = ''$.user.level >= 1 && $.request.channel == "APP"'', exclusive_group = ''g-all$side''', 0,
  '{ACCEPTED.issuing,LIMIT_REACHED,BLOCKED,CHANNEL_NOT_ALLOWED,NOT_QUALIFIED,QUALIFICATION_USED,NOT_ELIGIBLE,EXCLUSIVE_GROUP,REPLAYED,BIZ_ID_REUSED}');
select probe.compare(0.6, 'split', 'reward', 500, 160, 380, 220, '{total 3}', 'segments = 4', 0, '{ACCEPTED.issuing,LIMIT_REACHED,SOLD_OUT,REPLAYED,BIZ_ID_REUSED}');
select probe.compare(0.7, 'queue', 'reward', 400, 60, 260, 60, '{day 2}', 'status = ''finished'', start_at = now() - interval ''30 minutes''', 0, '{ACCEPTED.issuing,NOT_STARTED,ENDED,LIMIT_REACHED,SOLD_OUT,REPLAYED,BIZ_ID_REUSED}');
