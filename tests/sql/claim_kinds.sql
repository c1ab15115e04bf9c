-- SPDX-License-Identifier: Apache-2.0
-- Every rule about who may claim, for each kind of activity, in the order in which they are checked; what a claim takes by each; and that a refusal changes nothing.
-- B12, B16, B19, B21, B83.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
create function probe.id(i_code text) returns bigint language sql as $$ select id from largesse.activity where code = i_code $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
insert into largesse.event (code, name, time_zone, created_at, updated_at) values ('fair', 'fair', 'UTC', now(), now());
insert into largesse.reward (code, provider, amount, currency, purpose, created_at) values ('price', 'payments', 500, 'CNY', 'payment', now());

-- An activity whose members are set as columns, published and open.
create function probe.make(i_code text, i_kind text, i_total bigint, i_limits text[] default '{total 1}', i_columns text default null, i_reward text default null)
returns bigint language plpgsql as $$
declare v_id bigint;
begin
  perform largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
    'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', jsonb_build_object('total', i_total), 'limits', '[]'::jsonb), 'test', null);
  v_id := probe.id(i_code);
  update largesse.activity set kind = i_kind, reward_id = (select max(id) from largesse.reward where code = i_reward),
         points_cost = case i_kind when 'exchange' then 100 end where id = v_id;
  if i_columns is not null then execute 'update largesse.activity set ' || i_columns || ' where id = ' || v_id; end if;
  insert into largesse.activity_limit select v_id, split_part(l, ' ', 1), split_part(l, ' ', 2)::bigint from unnest(i_limits) l;
  update largesse.activity set status = 'ongoing' where id = v_id;
  return v_id;
end $$;
create function probe.submit(i_code text, i_biz text, i_user bigint, i_quantity int default 1, i_channel text default null, i_numbers bigint[] default null)
returns table (verdict text, claim_id bigint, status text, detail jsonb) language sql as $$
  select s.verdict, s.claim_id, s.status, s.detail::jsonb
    from largesse.claim_submit(probe.id(i_code), array[i_biz], array[i_user], array[i_quantity], array[i_channel], '5 s',
      (select array_agg(1) from unnest(i_numbers)), i_numbers) s where s.ord = 1
$$;
create function probe.claim(i_code text, i_biz text, i_user bigint, i_quantity int default 1, i_channel text default null, i_numbers bigint[] default null)
returns text language sql as $$ select s.verdict || coalesce(' ' || s.status, '') from probe.submit(i_code, i_biz, i_user, i_quantity, i_channel, i_numbers) s $$;
-- All that a claim could change.
create function probe.state() returns text language sql as $$
  select md5(string_agg(t.x, ';' order by t.x)) from (
    select 'c' || c::text from largesse.claim c union all select 'u' || u::text from largesse.usage u union all select 'e' || u::text from largesse.event_usage u
    union all select 's' || s::text from largesse.stock s union all select 'g' || g::text from largesse.group_member g
    union all select 'q' || q::text from largesse.qualification q union all select 'p' || p::text from largesse.points_account p
    union all select 'l' || l::text from largesse.points_entry l union all select 'n' || n::text from largesse.activity_number n
    union all select 'w' || w::text from largesse.waiting_entry w union all select 'o' || o::text from largesse.event_out o) t(x)
$$;
create function probe.refused(i_what text, i_expected text, i_detail jsonb, i_code text, i_biz text, i_user bigint, i_quantity int default 1, i_channel text default null, i_numbers bigint[] default null)
returns void language plpgsql as $$
declare v_before text := probe.state(); v record;
begin
  select * into v from probe.submit(i_code, i_biz, i_user, i_quantity, i_channel, i_numbers);
  perform probe.expect(i_what, v.verdict, i_expected);
  perform probe.expect(i_what || ': why', v.detail::text, i_detail::text);
  perform probe.expect(i_what || ' changed nothing', probe.state(), v_before);
end $$;

-- An activity with every rule: each refuses in its turn, as the ones before it are met. User 1 meets them one after the other.
select probe.make('other', 'reward', 10, '{}', 'exclusive_group = ''g''', 'probe');
select probe.make('all', 'exchange', 0, '{total 5,day 3,event 2}',
  'channels = ''{APP,WEB}'', needs_qualification = true, eligibility = ''$.user.level >= 5 && $.request.channel == "APP" && $.progress.steps > 10'', exclusive_group = ''g'', event_code = ''fair''', 'probe');
select probe.expect('elsewhere first', probe.claim('other', 'o1', 1), 'ACCEPTED issuing');
insert into largesse.usage values (probe.id('all'), 1, 'total', '-infinity', 5, 5), (probe.id('all'), 1, 'day', largesse.period_start('day', now(), 'Asia/Shanghai'), 3, 3);
insert into largesse.event_usage values ('fair', 1, 2, 2);
insert into largesse.blocked_user values (probe.id('all'), 1, 'x', 'test', now());
select probe.refused('in total', 'LIMIT_REACHED', '{"rule": "limit.total", "limit": 5, "count": 5}', 'all', 'a', 1);
update largesse.usage set used = 3 where activity_id = probe.id('all') and period = 'total';
select probe.expect('a day', (select detail ->> 'rule' from probe.submit('all', 'a', 1)), 'limit.day');
update largesse.usage set used = 0 where activity_id = probe.id('all');
select probe.refused('over all sessions', 'LIMIT_REACHED', '{"rule": "limit.event", "limit": 2, "count": 2}', 'all', 'a', 1);
update largesse.event_usage set used = 1;
select probe.refused('two over all sessions', 'LIMIT_REACHED', '{"rule": "limit.event", "limit": 2, "count": 1}', 'all', 'a', 1, 2);
select probe.refused('blocked', 'BLOCKED', null, 'all', 'a', 1);
delete from largesse.blocked_user;
select probe.refused('no channel', 'CHANNEL_NOT_ALLOWED', '{"channels": ["APP", "WEB"]}', 'all', 'a', 1);
select probe.refused('other channel', 'CHANNEL_NOT_ALLOWED', '{"channels": ["APP", "WEB"]}', 'all', 'a', 1, 1, 'SMS');
select probe.refused('not on the list', 'NOT_QUALIFIED', null, 'all', 'a', 1, 1, 'WEB');
insert into largesse.qualification (activity_id, user_id, claim_id, created_at) values (probe.id('all'), 1, 7, now());
select probe.refused('used on the list', 'QUALIFICATION_USED', null, 'all', 'a', 1, 1, 'WEB');
update largesse.qualification set claim_id = null;
select probe.refused('nothing is known of the user', 'NOT_ELIGIBLE', null, 'all', 'a', 1, 1, 'APP');
insert into largesse.user_attribute values (1, '{"level": 5}', now());
insert into largesse.user_progress values (1, 'steps', 11, now()), (1, 'logins', 3, now());
select probe.refused('the channel counts', 'NOT_ELIGIBLE', null, 'all', 'a', 1, 1, 'WEB');
select probe.refused('in another activity of the group', 'EXCLUSIVE_GROUP', '{"exclusiveGroup": "g", "activityCode": "other"}', 'all', 'a', 1, 1, 'APP');
update largesse.group_member set live = 0;
select probe.refused('no account', 'INSUFFICIENT_POINTS', '{"balance": 0, "needed": 100}', 'all', 'a', 1, 1, 'APP');
select largesse.points_grant(1, 'first', 99, 'test', 'test');
select probe.refused('one point too few', 'INSUFFICIENT_POINTS', '{"balance": 99, "needed": 100}', 'all', 'a', 1, 1, 'APP');
select largesse.points_grant(1, 'second', 51, 'test', 'test');
select probe.refused('no stock', 'SOLD_OUT', '{"remaining": 0}', 'all', 'a', 1, 1, 'APP');
update largesse.stock set remaining = 3 where activity_id = probe.id('all');
select probe.expect('at last', probe.claim('all', 'a', 1, 1, 'APP'), 'ACCEPTED issuing');
-- What it took.
select probe.expect('claim', to_jsonb(c.*)::text, jsonb_build_object('points', 100, 'status', 'issuing', 'step', 'deliver')::text)
  from (select points, status, step from largesse.claim where biz_id = 'a') c;
select probe.expect('qualification', q.claim_id::text, c.id::text) from largesse.qualification q, largesse.claim c where c.biz_id = 'a';
select probe.expect('group', (select live || ' ' || activity_id from largesse.group_member), '1 ' || probe.id('all'));
select probe.expect('points', (select balance::text from largesse.points_account), '50');
select probe.expect('ledger', (select string_agg(amount || ' ' || balance || ' ' || replace(key, activity_id || '-' || claim_id, 'id'), ',') from largesse.points_entry), '-100 50 claim/id');
select probe.expect('event usage', (select used::text from largesse.event_usage), '2');
select probe.expect('usage', (select string_agg(period || used, ',' order by period) from largesse.usage where activity_id = probe.id('all')), 'day1,total1');
select probe.expect('replay', (select verdict || (detail ->> 'points') || (detail ->> 'status') from probe.submit('all', 'a', 1, 1, 'APP')), 'REPLAYED100issuing');
select probe.refused('reused by another', 'BIZ_ID_REUSED', null, 'all', 'a', 2, 1, 'APP');
-- The other way round, the first activity of the group is the one that excludes.
select probe.expect('excluded there', (select detail ->> 'activityCode' from probe.submit('other', 'o2', 1)), 'all');

-- An error of one row refuses that claim alone; the others of its batch are judged as ever.
select probe.make('odd', 'registration', null, '{}', 'eligibility = ''$.user.score / $.user.weight > 1 && $.user.born.datetime() < "2010-01-01T00:00:00+00:00".datetime()''');
insert into largesse.user_attribute values (11, '{"score": 10, "weight": 2, "born": "2001-01-01"}', now()), (12, '{"score": 10, "weight": 0, "born": "2001-01-01"}', now()),
  (13, '{"score": "x", "weight": [1], "born": "2001-01-01"}', now()), (14, '{"score": 1e300, "weight": 1e-300, "born": "no date"}', now()), (15, '{"score": 10, "weight": 2, "born": "2021-01-01"}', now());
select probe.expect('odd users', (select string_agg(s.verdict, ' ' order by s.ord) from largesse.claim_submit(probe.id('odd'), array['1', '2', '3', '4', '5', '6'], array[11, 12, 13, 14, 15, 16],
  array[1, 1, 1, 1, 1, 1], array[null, null, null, null, null, null]::text[], '5 s') s where s.ord > 0), 'ACCEPTED NOT_ELIGIBLE NOT_ELIGIBLE NOT_ELIGIBLE NOT_ELIGIBLE NOT_ELIGIBLE');

-- Registrations without a reward are done at once, with nothing due, and the business is told.
select probe.make('run', 'registration', 2);
select probe.expect('a place', probe.claim('run', 'r1', 1, 1), 'ACCEPTED succeeded');
select probe.expect('nothing due', (select step is null and next_attempt_at is null from largesse.claim where biz_id = 'r1')::text, 'true');
select probe.expect('told', (select o.docs[1]::jsonb ->> 'claimId' from largesse.event_out o where o.type = 'claim.succeeded' order by id desc limit 1), c.activity_id || '-' || c.id) from largesse.claim c where c.biz_id = 'r1';
-- A second sign-up is shown the first.
select probe.expect('already', s.verdict || ' ' || (s.detail -> 'claim' ->> 'bizId'), 'ALREADY_REGISTERED r1') from probe.submit('run', 'r2', 1) s;
select probe.expect('others go on', probe.claim('run', 'r3', 2), 'ACCEPTED succeeded');
-- Also where it is the limit over all sessions that he has used up here; who used it up elsewhere has no place here to be shown.
select probe.make('talk', 'registration', 5, '{event 1}', 'event_code = ''fair''');
select probe.expect('a session', probe.claim('talk', 't1', 41), 'ACCEPTED succeeded');
select probe.expect('already in it', s.verdict || ' ' || (s.detail -> 'claim' ->> 'bizId'), 'ALREADY_REGISTERED t1') from probe.submit('talk', 't2', 41) s;
select probe.expect('a dry run says so too', e.verdict, 'ALREADY_REGISTERED') from largesse.claim_explain('talk', 41, 't2', 1, null, null, null) e;
insert into largesse.event_usage values ('fair', 42, 1, 1);
select probe.refused('in another session', 'LIMIT_REACHED', '{"rule": "limit.event", "limit": 1, "count": 1}', 'talk', 't3', 42);
delete from largesse.event_usage where user_id = 42;
select probe.refused('full', 'SOLD_OUT', '{"remaining": 0}', 'run', 'r4', 3);
select probe.expect('already, though full', (select verdict from probe.submit('run', 'r5', 1)), 'ALREADY_REGISTERED');
select probe.expect('the look-up says so too', (select string_agg(l.verdict, ' ' order by l.ord) from largesse.claim_lookup(probe.id('run'), array['r6', 'r1', 'r7'], array[2, 1, 9], array[1, 1, 1], array[null, null, null]::text[]) l where l.ord > 0),
  'ALREADY_REGISTERED REPLAYED UNKNOWN');
update largesse.activity set status = 'paused' where code = 'run';
select probe.expect('paused', (select verdict from largesse.claim_lookup(probe.id('run'), array['r6'], array[2], array[1], array[null]::text[]) l where l.ord = 1), 'UNKNOWN');
update largesse.activity set status = 'ongoing' where code = 'run';
-- Cancelled: again, unless the activity says no.
update largesse.claim set status = 'cancelled' where biz_id = 'r1';
update largesse.usage set used = 0 where activity_id = probe.id('run') and user_id = 1;
update largesse.stock set remaining = 1, taken = 1 where activity_id = probe.id('run');
update largesse.activity set sign_up_again = false where code = 'run';
select probe.expect('not again', s.verdict || ' ' || (s.detail -> 'claim' ->> 'status'), 'ALREADY_REGISTERED cancelled') from probe.submit('run', 'r8', 1) s;
update largesse.activity set sign_up_again = true where code = 'run';
select probe.expect('again', probe.claim('run', 'r8', 1), 'ACCEPTED succeeded');

-- The waiting list: who does not fit waits, and then everybody behind him; a full list is sold out; nobody is in it twice; nothing is held meanwhile.
select probe.make('hall', 'registration', 3, '{total 2}', 'waiting_max = 2, needs_qualification = true, exclusive_group = ''halls''');
insert into largesse.qualification (activity_id, user_id, created_at) select probe.id('hall'), n, now() from generate_series(20, 40) n;
select probe.expect('two places', probe.claim('hall', 'h1', 20, 2), 'ACCEPTED succeeded');
select probe.expect('does not fit', probe.claim('hall', 'h2', 21, 2), 'ACCEPTED waiting');
select probe.expect('would fit, but waits', probe.claim('hall', 'h3', 22, 1), 'ACCEPTED waiting');
select probe.expect('told so', s.verdict || ' ' || (s.detail -> 'claim' ->> 'status'), 'ALREADY_REGISTERED waiting') from probe.submit('hall', 'h4', 22) s;
select probe.refused('full list', 'SOLD_OUT', '{"remaining": 1}', 'hall', 'h5', 23);
select probe.expect('in order', (select string_agg(w.user_id || 'x' || w.quantity, ' ' order by w.position) from largesse.waiting_entry w where w.activity_id = probe.id('hall')), '21x2 22x1');
select probe.expect('counted', (select waiting || ' ' || remaining || ' ' || taken from largesse.stock where activity_id = probe.id('hall')), '2 1 2');
select probe.expect('no allowance', (select count(*)::text from largesse.usage where activity_id = probe.id('hall') and user_id > 20), '0');
select probe.expect('qualified and in the group', (select count(q.claim_id) || ' ' || count(g.live) from largesse.qualification q left join largesse.group_member g on g.group_name = 'halls' and g.user_id = q.user_id where q.user_id in (21, 22)), '2 2');
select probe.expect('waiting claim', (select (detail - 'claimId' - 'createdAt' - 'updatedAt')::text from probe.submit('hall', 'h2', 21, 2)),
  '{"bizId": "h2", "status": "waiting", "userId": "21", "quantity": 2, "activityCode": "hall"}');
update largesse.activity set waiting_max = 9 where code = 'hall';
-- Who gave up waiting has no counter that tells; where that is for good, he is told so all the same.
select probe.make('desk', 'registration', 1, '{total 1}', 'waiting_max = 5, sign_up_again = false');
select probe.expect('the place', probe.claim('desk', 'd1', 1), 'ACCEPTED succeeded');
select probe.expect('waits', probe.claim('desk', 'd2', 2), 'ACCEPTED waiting');
update largesse.claim set status = 'cancelled' where biz_id = 'd2';
delete from largesse.waiting_entry where activity_id = probe.id('desk');
update largesse.stock set waiting = 0, remaining = 1, taken = 1 where activity_id = probe.id('desk');
select probe.expect('gave up', s.verdict || ' ' || (s.detail -> 'claim' ->> 'bizId'), 'ALREADY_REGISTERED d2') from probe.submit('desk', 'd3', 2) s;
select probe.expect('others', probe.claim('desk', 'd4', 3), 'ACCEPTED succeeded');
-- So is who gave a place up before the limits were replaced, and his counter with them.
select probe.make('lodge', 'registration', 5, '{day 1}', 'sign_up_again = false');
select probe.expect('a place', probe.claim('lodge', 'l1', 1), 'ACCEPTED succeeded');
select probe.expect('given up', c.outcome || c.is_changed, 'oktrue') from largesse.claim k, largesse.claim_cancel(k.activity_id, k.id, null) c where k.biz_id = 'l1';
select largesse.activity_limits_replace(probe.id('lodge'), '[{"count": 1, "period": "total"}]');
select probe.expect('for good', s.verdict || ' ' || (s.detail -> 'claim' ->> 'bizId'), 'ALREADY_REGISTERED l1') from probe.submit('lodge', 'l2', 1) s;
-- Part of a batch waits, the rest is refused: one after the other.
select probe.make('yard', 'registration', 2, '{}', 'waiting_max = 2');
select probe.expect('last places', (select string_agg(s.verdict || coalesce(' ' || s.status, ''), ',' order by s.ord) from largesse.claim_submit(probe.id('yard'), array['1', '2', '3', '4', '5', '6'], array[1, 2, 3, 4, 5, 6],
  array[1, 3, 1, 1, 1, 1], array[null, null, null, null, null, null]::text[], '5 s') s where s.ord > 0),
  'ACCEPTED succeeded,SOLD_OUT,ACCEPTED succeeded,ACCEPTED waiting,ACCEPTED waiting,SOLD_OUT');

-- Numbers: held for exactly this claim while it is paid, all or none of them. B12.
select probe.make('lot', 'number', 10, '{}', 'payment_id = (select max(id) from largesse.reward where code = ''price''), hold_for = ''10 minutes''', 'probe');
insert into largesse.activity_number (activity_id, number) select probe.id('lot'), n from generate_series(1, 6) n;
select probe.expect('held', probe.claim('lot', 'n1', 1, 2, null, '{1,3}'), 'ACCEPTED held');
select probe.expect('claim of numbers', (select (detail - 'claimId' - 'createdAt' - 'updatedAt' - 'holdUntil' #- '{payment,requestId}')::text from probe.submit('lot', 'n1', 1, 2, null, '{3,1}')),
  '{"bizId": "n1", "status": "held", "userId": "1", "numbers": [1, 3], "payment": {"status": "due"}, "quantity": 2, "rewardCode": "probe", "activityCode": "lot"}');
select probe.expect('until', (select (deadline = updated_at + interval '10 minutes' and step = 'charge' and payment = 'due' and next_attempt_at = updated_at + interval '5 s')::text from largesse.claim where biz_id = 'n1'), 'true');
select probe.expect('request id', s.detail -> 'payment' ->> 'requestId', c.activity_id || '-' || c.id || '-p') from probe.submit('lot', 'n1', 1, 2, null, '{3,1}') s, largesse.claim c where c.biz_id = 'n1';
select probe.refused('other numbers', 'BIZ_ID_REUSED', null, 'lot', 'n1', 1, 2, null, '{1,2}');
select probe.refused('one is taken', 'NUMBER_TAKEN', '{"numbers": [3]}', 'lot', 'n2', 2, 3, null, '{2,3,4}');
select probe.refused('one does not exist', 'NUMBER_TAKEN', '{"numbers": [1, 99]}', 'lot', 'n2', 2, 3, null, '{1,99,4}');
select probe.expect('numbers that repeat go in order', (select string_agg(s.verdict, ' ' order by s.ord) from largesse.claim_submit(probe.id('lot'), array['n3', 'n4', 'n5'], array[3, 4, 5],
  array[2, 1, 2], array[null, null, null]::text[], '5 s', '{1,1,2,3,3}', '{5,4,4,6,2}') s where s.ord > 0), 'ACCEPTED NUMBER_TAKEN ACCEPTED');
select probe.expect('owners', (select string_agg(n.number || n.status || coalesce(c.biz_id, ''), ' ' order by n.number) from largesse.activity_number n left join largesse.claim c on c.activity_id = n.activity_id and c.id = n.claim_id
  where n.activity_id = probe.id('lot')), '1heldn1 2heldn5 3heldn1 4heldn3 5heldn3 6heldn5');
select probe.expect('units', (select remaining || ' ' || taken from largesse.stock where activity_id = probe.id('lot')), '4 6');
-- One free number, all want it; what is told is that it is taken, not that there is no stock.
select probe.make('one', 'number', 1, '{}', 'payment_id = (select max(id) from largesse.reward where code = ''price'')');
insert into largesse.activity_number (activity_id, number) values (probe.id('one'), 7);
select probe.expect('fifty buyers', (select string_agg(v, ' ' order by v) from (select s.verdict || count(*) as v from largesse.claim_submit(probe.id('one'), array(select 'b' || n from generate_series(1, 50) n), array(select n from generate_series(1, 50) n),
  array_fill(1, array[50]), array_fill(null::text, array[50]), '5 s', array(select n from generate_series(1, 50) n), array_fill(7::bigint, array[50])) s where s.ord > 0 group by s.verdict) t), 'ACCEPTED1 NUMBER_TAKEN49');
-- Sold at once where nothing is paid; more units than numbers are refused by the stock last.
select probe.make('free', 'number', 1, '{}');
insert into largesse.activity_number (activity_id, number) select probe.id('free'), n from generate_series(1, 3) n;
select probe.refused('more than the cap', 'SOLD_OUT', '{"remaining": 1}', 'free', 'f0', 1, 2, null, '{1,2}');
select probe.expect('sold at once', probe.claim('free', 'f1', 1, 1, null, '{2}'), 'ACCEPTED succeeded');
select probe.expect('sold', (select status from largesse.activity_number where activity_id = probe.id('free') and number = 2), 'sold');
do $$ declare v_bad record; begin
  for v_bad in select * from (values ('run', '{1}'::bigint[], 1), ('free', null, 1), ('free', '{1,3}', 1), ('free', '{3,3}', 2)) v(code, numbers, quantity) loop
    begin
      perform probe.claim(v_bad.code, 'bad', 99, v_bad.quantity, null, v_bad.numbers);
      raise exception 'numbers % of % pass', v_bad.numbers, v_bad.code;
    exception when invalid_parameter_value then null; end;
  end loop;
end $$;

-- Points: never below zero, whatever the quantity. B83: what a quantity would debit cannot overflow.
select probe.make('shop', 'exchange', null, '{}', null, 'probe');
select largesse.points_grant(31, 'first', 250, 'test', 'test'), largesse.points_grant(32, 'first', 9223372036854775807, 'test', 'test');
select probe.expect('two of them', probe.claim('shop', 's1', 31, 2), 'ACCEPTED issuing');
select probe.refused('no third', 'INSUFFICIENT_POINTS', '{"balance": 50, "needed": 100}', 'shop', 's2', 31, 1);
update largesse.activity set points_cost = 9223372036854775807 where code = 'shop';
select probe.refused('too dear', 'INSUFFICIENT_POINTS', '{"balance": 9223372036854775807, "needed": 18446744073709551614}', 'shop', 's3', 32, 2);

-- A queued request is judged by the instant at which it was queued, and by the present pause.
select probe.make('queue', 'reward', 100, '{day 1}', 'start_at = now() - interval ''3 days'', end_at = now() - interval ''1 hour'', status = ''finished''', 'probe');
update largesse.activity set status = 'finished' where code = 'queue';
create function probe.queued(i_biz text, i_user bigint, i_at timestamptz) returns text language sql as $$
  select s.verdict || coalesce(' ' || (s.detail::jsonb ->> 'rule'), '') from largesse.claim_submit(probe.id('queue'), array[i_biz], array[i_user], array[1], array[null]::text[], '5 s', null, null, array[i_at]) s where s.ord = 1
$$;
create table probe.moment as select now() - interval '2 hours' as at;
select probe.expect('in time', probe.queued('q1', 1, at), 'ACCEPTED') from probe.moment;
select probe.expect('its instant', (select (created_at = at and updated_at > created_at + interval '1 hour')::text from largesse.claim, probe.moment where biz_id = 'q1'), 'true');
select probe.expect('the same day', probe.queued('q2', 1, now() - interval '2 hours'), 'LIMIT_REACHED limit.day');
select probe.expect('another day', probe.queued('q3', 1, now() - interval '2 days'), 'ACCEPTED');
select probe.expect('too late', probe.queued('q4', 2, now() - interval '1 hour'), 'ENDED');
select probe.expect('too early', probe.queued('q5', 2, now() - interval '4 days'), 'NOT_STARTED');
select probe.expect('not queued', (select verdict from probe.submit('queue', 'q6', 3)), 'ENDED');
select probe.expect('mixed', (select string_agg(s.verdict, ' ' order by s.ord) from largesse.claim_submit(probe.id('queue'), array['q1', 'q7', 'q8'], array[1, 7, 8], array[1, 1, 1], array[null, null, null]::text[], '5 s', null, null,
  array[now() - interval '2 hours', now() - interval '3 hours', now()]) s where s.ord > 0), 'REPLAYED ACCEPTED ENDED');
update largesse.activity set status = 'paused' where code = 'queue';
select probe.expect('paused', probe.queued('q9', 9, now() - interval '2 hours'), 'PAUSED');

-- Stock in segments: units are found wherever they are, to the last one.
select probe.make('split', 'reward', 12, '{}', 'segments = 4', 'probe');
update largesse.stock set remaining = 3 where activity_id = probe.id('split');
insert into largesse.stock (activity_id, segment, remaining) select probe.id('split'), n, 3 from generate_series(1, 3) n;
create function probe.split(i_biz text, i_quantity int, i_segment int) returns text language sql as $$
  select string_agg(s.verdict || case s.ord when 0 then ' ' || s.claim_id else '' end, ' ' order by s.ord desc)
    from largesse.claim_submit(probe.id('split'), array[i_biz], array[1::bigint], array[i_quantity], array[null]::text[], '5 s', null, null, null, i_segment) s
$$;
create function probe.segments() returns text language sql as $$ select string_agg(remaining || '/' || taken, ' ' order by segment) from largesse.stock where activity_id = probe.id('split') $$;
select probe.expect('its own first', probe.split('s1', 2, 2), 'ACCEPTED ongoing 10');
select probe.expect('segments', probe.segments(), '3/0 3/0 1/2 3/0');
select probe.expect('the next that has enough', probe.split('s2', 2, 2), 'ACCEPTED ongoing 8');
select probe.expect('segments', probe.segments(), '3/0 3/0 1/2 1/2');
select probe.expect('from several', probe.split('s3', 5, 3), 'ACCEPTED ongoing 3');
select probe.expect('segments', probe.segments(), '0/3 1/2 1/2 1/2');
select probe.expect('without a segment', probe.split('s4', 2, null), 'ACCEPTED ongoing 1');
select probe.expect('not enough', probe.split('s5', 2, 0), 'SOLD_OUT ongoing 1');
select probe.expect('the last', probe.split('s6', 1, 0), 'ACCEPTED ongoing 0');
select probe.expect('none', probe.split('s7', 1, 0), 'SOLD_OUT ongoing 0');
select probe.expect('segments', probe.segments(), '0/3 0/3 0/3 0/3');
-- Unlimited.
select probe.make('wide', 'reward', null, '{}', 'segments = 2', 'probe');
insert into largesse.stock (activity_id, segment) values (probe.id('wide'), 1);
select probe.expect('unlimited segments', (select string_agg(s.verdict || coalesce(s.claim_id::text, '-'), ' ' order by s.ord desc) from (select s.ord, s.verdict, case s.ord when 0 then s.claim_id else 0 end as claim_id
  from largesse.claim_submit(probe.id('wide'), array['w'], array[1::bigint], array[4], array[null]::text[], '5 s', null, null, null, 1) s) s), 'ACCEPTED0 ongoing-');
select probe.expect('unlimited, all', (select verdict from probe.submit('wide', 'w2', 2)), 'ACCEPTED');

do $$ declare v text; begin
  select string_agg(d.name || ' ' || a.code, ', ') into v from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r where a.code in ('run', 'lot', 'one', 'free', 'shop', 'yard', 'split');
  if v is not null then raise exception 'the audit has findings: %', v; end if;
end $$;
