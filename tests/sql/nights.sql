-- SPDX-License-Identifier: Apache-2.0
-- Nights: which time a business date covers where clocks change, when it is due, who makes it, and what its report says: the same whenever it is made. Field case B29.
create schema probe;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
set time zone 'UTC';

-- --- windows

create function probe.window_of(i_date date, i_zone text) returns text language sql as $$
  select to_char(from_at, 'DD HH24:MI') || ' ' || to_char(until_at, 'DD HH24:MI') || ' ' || extract(epoch from until_at - from_at)::int / 60 from largesse.night_window(i_date, i_zone)
$$;
select probe.expect(w.zone || ' ' || w.day, probe.window_of(w.day, w.zone), w.wanted)
  from (values (date '2027-03-27', 'Europe/Berlin', '26 23:00 27 23:00 1440'), ('2027-03-28', 'Europe/Berlin', '27 23:00 28 22:00 1380'),
               ('2027-03-29', 'Europe/Berlin', '28 22:00 29 22:00 1440'), ('2027-10-31', 'Europe/Berlin', '30 22:00 31 23:00 1500'),
               ('2027-03-14', 'America/Vancouver', '14 08:00 15 07:00 1380'), ('2027-11-07', 'America/Vancouver', '07 07:00 08 08:00 1500'),
               -- Clocks are put forward from midnight to 01:00, and back from 01:00 to midnight, which is shown twice.
               ('2027-03-14', 'America/Havana', '14 05:00 15 04:00 1380'), ('2027-11-07', 'America/Havana', '07 04:00 08 05:00 1500'),
               ('2027-04-04', 'Australia/Lord_Howe', '03 13:00 04 13:30 1470'), ('2027-10-03', 'Australia/Lord_Howe', '02 13:30 03 13:00 1410'),
               ('2027-06-01', 'Asia/Shanghai', '31 16:00 01 16:00 1440')) as w(day, zone, wanted);
-- Without gap and without overlap around each change.
select probe.expect(z.zone || ' ' || z.first_day, count(*) filter (where w.until_at <> n.from_at or w.until_at <= w.from_at)::text || ' ' || max(n.from_at)::text, '0 ' || z.last_end)
  from (values ('Europe/Berlin', date '2027-03-20', '2027-03-29 22:00:00+00'), ('Europe/Berlin', '2027-10-23', '2027-11-01 23:00:00+00'),
               ('America/Havana', '2027-03-06', '2027-03-16 04:00:00+00'), ('America/Havana', '2027-10-30', '2027-11-09 05:00:00+00'),
               ('Australia/Lord_Howe', '2027-03-27', '2027-04-05 13:30:00+00')) as z(zone, first_day, last_end)
  cross join lateral generate_series(z.first_day, z.first_day + 9, interval '1 day') as d(day)
  cross join lateral largesse.night_window(d.day::date, z.zone) w cross join lateral largesse.night_window(d.day::date + 1, z.zone) n
 group by z.zone, z.first_day, z.last_end;
-- A local time that is left out, and one that is shown twice: one instant each.
select probe.expect('due ' || d.day || d.at, to_char(largesse.night_due_at(d.day, 'Europe/Berlin', d.at::time), 'DD HH24:MI'), d.wanted)
  from (values (date '2027-03-27', '02:00', '28 01:00'), ('2027-03-27', '02:30', '28 01:30'), ('2027-03-27', '03:00', '28 01:00'), ('2027-10-30', '02:00', '31 00:00'),
               ('2027-10-30', '02:30', '31 00:30'), ('2027-10-31', '02:00', '01 01:00'), ('2027-06-01', '00:00', '01 22:05'), ('2027-06-01', '23:59', '02 21:59')) as d(day, at, wanted);

-- The zone of most reports is looked at every few seconds: it is known without reading a list of all zones from their files, which takes a hundred times as long.
do $$
declare
  v_begun timestamptz := clock_timestamp();
begin
  perform probe.expect('known', count(*) filter (where largesse.time_zone_is_known('UTC'))::text, '100') from generate_series(1, 100);
  if clock_timestamp() - v_begun > interval '1 s' then raise exception 'UTC is looked for in a list: % for a hundred times', clock_timestamp() - v_begun; end if;
end $$;

-- --- which night is next, by a clock that the test sets

create table probe.clock (at timestamptz not null);
insert into probe.clock values ('2027-03-26 12:00Z');
grant usage on schema probe to public;
grant select on probe.clock to public;
create or replace function largesse.clock_now() returns timestamptz language sql volatile parallel safe as $$ select at from probe.clock $$;
create function probe.clock_set(i_at timestamptz) returns void language sql as $$ update probe.clock set at = i_at $$;
create function probe.due(i_catch_up int default 7) returns text language sql as $$
  select outcome || coalesce(' ' || business_date, '') from largesse.night_due('Europe/Berlin', '02:00', i_catch_up)
$$;
create function probe.take(i_holder text, i_date date default null, i_again boolean default false) returns text language sql as $$
  select outcome || coalesce(' ' || business_date || coalesce(' ' || token, ''), '') || case when is_resumed then ' resumed' else '' end
    from largesse.night_take(i_date, 'Europe/Berlin', '02:00', 7, i_holder, '1 minute', i_again)
$$;
-- Makes what has been taken; gives the report.
create function probe.make(i_date date, i_token bigint) returns text language plpgsql as $$
declare
  v_run bigint := (select run_id from largesse.audit_begin('night', i_date, null, true, 'Europe/Berlin'));
begin
  perform largesse.audit_end(v_run, 0);
  perform largesse.night_prepare(i_date);
  while largesse.night_step(i_date) loop end loop;
  return (select f.doc from largesse.night_finish(i_date, i_token, v_run) f);
end $$;

select probe.expect('nothing yet: no activity', probe.due(), 'none');
select largesse.reward_put('voucher', 'simulator', 250, 'EUR', '{}');
select largesse.activity_put(jsonb_build_object('code', 'run', 'name', 'n', 'kind', 'reward', 'timeZone', 'Europe/Berlin', 'rewardCode', 'voucher',
  'startAt', '2027-03-26T00:00:00+01:00', 'endAt', '2027-12-01T00:00:00+01:00', 'stock', '{"total": 1000}'::jsonb,
  'limits', '[{"count": 5, "period": "total"}]'::jsonb), 'test', null);
select largesse.activity_action('run', 'publish', 'test', null, null);
select largesse.activity_advance(100);
select probe.expect('nothing yet: no night is over', probe.due(), 'none');
-- The clock of the claims, without waiting: ids of users say which they are.
create function probe.claim(i_at timestamptz, i_user bigint) returns void language plpgsql as $$ begin
  perform probe.clock_set(i_at);
  perform largesse.claim_submit((select id from largesse.activity where code = 'run'), array['b' || i_user], array[i_user], array[2], array[null::text], '5 s');
end $$;
create function probe.move(i_at timestamptz, i_user bigint, i_to text) returns void language plpgsql as $$ begin
  perform probe.clock_set(i_at);
  perform m.* from largesse.claim c, largesse.claim_move(array[c.activity_id], array[c.id], i_to, null, null, null) m where c.user_id = i_user;
end $$;
-- One each at the edges of 27, 28 and 29 March.
do $$
begin
  perform probe.claim('2027-03-26 22:59:59.999999Z', 1);
  perform probe.claim('2027-03-26 23:00Z', 2);
  perform probe.claim('2027-03-27 22:59:59.999999Z', 3);
  perform probe.move('2027-03-27 22:59:59.999999Z', 2, 'succeeded');
  perform probe.claim('2027-03-27 23:00Z', 4);
  perform probe.claim('2027-03-28 21:59:59.999999Z', 5);
  perform probe.move('2027-03-28 21:59:59.999999Z', 3, 'succeeded');
  perform largesse.refusal_add(array[(select id from largesse.activity where code = 'run')], array['SOLD_OUT'], array[7::bigint]);
  perform probe.claim('2027-03-28 22:00Z', 6);
end $$;

-- On a new installation only the latest night; then each in order, once.
select probe.clock_set('2027-03-27 00:59:59Z');
select probe.expect('26th at 02:00', probe.due(), 'none');
select probe.clock_set('2027-03-27 01:00Z');
select probe.expect('26th due', probe.due(), 'due 2027-03-26');
select probe.expect('26th', probe.take('a'), 'taken 2027-03-26 1');
select probe.expect('held', probe.due() || ', ' || probe.take('b') || ', ' || probe.take('b', '2027-03-26'), 'none, none, busy 2027-03-26');
select probe.expect('26th claims', probe.make('2027-03-26', 1)::json #>> '{report,totals,claims}', '{"count":1,"quantity":2}');
select probe.expect('done', probe.take('b', '2027-03-26') || ', ' || probe.due(), 'done 2027-03-26, none');
select probe.expect('not over', probe.take('b', '2027-03-27'), 'not_over 2027-03-27');

-- Everything was off for the night of the change; the missed nights come in order.
select probe.clock_set('2027-03-30 12:00Z');
select probe.expect('missed', probe.due() || ', ' || probe.due(2) || ', ' || probe.due(1), 'due 2027-03-27, due 2027-03-28, due 2027-03-29');
-- Whoever took it is gone: after its lease another goes on, and the first one changes nothing any more.
select probe.expect('a', probe.take('a'), 'taken 2027-03-27 1');
select largesse.night_prepare('2027-03-27'), largesse.night_step('2027-03-27');
select probe.clock_set('2027-03-30 12:00:59Z');
select probe.expect('lease', probe.due(), 'none');
select probe.clock_set('2027-03-30 12:01Z');
select probe.expect('left', probe.due() || ', ' || probe.take('b'), 'due 2027-03-27, taken 2027-03-27 2 resumed');
select probe.expect('too late', largesse.night_extend('2027-03-27', 1, '1 minute')::text || coalesce(probe.make('2027-03-27', 1), ' nothing'), 'false nothing');
select probe.expect('extended', largesse.night_extend('2027-03-27', 2, '1 minute')::text, 'true');
select probe.expect('27th', (select concat_ws(' ', r #> '{totals,claims}', r #> '{totals,succeeded}') from (select probe.make('2027-03-27', 2)::json -> 'report' as r) x),
  '{"count":2,"quantity":4} {"count":1,"quantity":2}');
select probe.expect('28th', probe.take('b'), 'taken 2027-03-28 1');
select probe.expect('28th covers 23 hours',
  (select concat_ws(' ', r ->> 'from', r ->> 'until', r #> '{totals,claims,count}', r #> '{totals,succeeded,count}', r #> '{totals,refusals}', json_array_length(r #> '{totals,claimsByHour}'),
                    r #> '{totals,claimsByHour,0}', r #> '{totals,claimsByHour,22}', r #> '{totals,money,delivered,0,amount}')
     from (select probe.make('2027-03-28', 1)::json -> 'report' as r) x),
  '2027-03-27T23:00:00.000000Z 2027-03-28T22:00:00.000000Z 2 1 {"SOLD_OUT":7} 23 1 1 500');
select probe.expect('29th', probe.take('b') || coalesce(left(probe.make('2027-03-29', 1), 0), ' lost'), 'taken 2027-03-29 1');
select probe.expect('each claim in one report', (select sum(claims) from largesse.night)::text, (select count(*) from largesse.claim)::text);

-- What happens later changes no byte of it: not the claims' later life, not the audit's findings.
select probe.move('2027-03-31 10:00Z', 4, 'failed'), probe.move('2027-03-31 11:00Z', 2, 'rolled_back');
create temporary table before as select business_date, report, moment from largesse.night;
select probe.expect('again', probe.take('c', '2027-03-27', true), 'taken 2027-03-27 3');
select probe.expect('still to be had', (select json_extract_path_text(doc::json, 'report', 'date') from largesse.night_show('2027-03-27')), '2027-03-27');
select probe.expect('unchanged', (probe.make('2027-03-27', 3)::json #>> '{moment,figuresUnchanged}'), 'true');
select probe.expect('28th again', probe.take('c', '2027-03-28', true), 'taken 2027-03-28 2');
select probe.expect('28th unchanged', (probe.make('2027-03-28', 2)::json #>> '{moment,figuresUnchanged}'), 'true');
select probe.expect('same bytes', (select string_agg(n.business_date::text, ' ') from largesse.night n join before b using (business_date)
  where n.report <> b.report or (n.business_date in ('2027-03-27', '2027-03-28')) = (n.moment = b.moment)), null);
-- But a row that somebody has edited is told.
update largesse.claim set quantity = 3 where user_id = 2;
select probe.expect('edited', probe.take('c', '2027-03-27', true), 'taken 2027-03-27 4');
select probe.expect('edited is told', (select concat_ws(' ', d #> '{moment,figuresUnchanged}', d -> 'clean') from (select probe.make('2027-03-27', 4)::json as d) x), 'false false');
select probe.expect('the first report stays', (select (n.report = b.report)::text from largesse.night n join before b using (business_date) where n.business_date = '2027-03-27'), 'true');
update largesse.claim set quantity = 2 where user_id = 2;
-- The business is told once of each.
select probe.expect('events', (select string_agg(subjects[1], ' ' order by id) from largesse.event_out where type = 'report.finished'), '2027-03-26 2027-03-27 2027-03-28 2027-03-29');
-- The end of a claim belongs to the night in which it came.
select probe.clock_set('2027-04-01 12:00Z');
select probe.expect('30th', probe.take('c') || left(probe.make('2027-03-30', 1), 0), 'taken 2027-03-30 1');
select probe.expect('31st', probe.take('c'), 'taken 2027-03-31 1');
select probe.expect('ends', (select concat_ws(' ', t #> '{claims,count}', t #> '{failed,count}', t #> '{rolledBack,count}') from (select probe.make('2027-03-31', 1)::json #> '{report,totals}' as t) x), '0 1 1');

-- --- the long night, and a zone that is changed

do $$
begin
  perform probe.claim('2027-10-30 21:59:59.999999Z', 11);
  perform probe.claim('2027-10-30 22:00Z', 12);
  perform probe.claim('2027-10-31 00:30Z', 13);   -- 02:30
  perform probe.claim('2027-10-31 01:30Z', 14);   -- 02:30 once more
  perform probe.claim('2027-10-31 22:59:59.999999Z', 15);
  perform probe.claim('2027-10-31 23:00Z', 16);
end $$;
select probe.clock_set('2027-10-31 00:00Z');
select probe.expect('30th at the first 02:00', (select outcome || ' ' || business_date from largesse.night_due('Europe/Berlin', '02:00', 1)), 'due 2027-10-30');
select probe.take('c', '2027-10-30');
select probe.expect('October 30', probe.make('2027-10-30', 1)::json #>> '{report,totals,claims,count}', '1');
select probe.clock_set('2027-10-31 01:00Z');
select probe.expect('not at the second', (select outcome from largesse.night_due('Europe/Berlin', '02:00', 1)), 'none');
select probe.clock_set('2027-11-01 01:00Z');
select probe.expect('October 31', (select outcome || ' ' || business_date from largesse.night_due('Europe/Berlin', '02:00', 1)), 'due 2027-10-31');
select probe.take('c', '2027-10-31');
select probe.expect('October 31 covers 25 hours', (select concat_ws(' ', r #> '{totals,claims,count}', json_array_length(r #> '{totals,claimsByHour}')) from (select probe.make('2027-10-31', 1)::json -> 'report' as r) x), '4 25');
select probe.expect('another zone goes on where the last ended', probe.window_of('2027-11-01', 'America/Vancouver'), '31 23:00 02 07:00 1920');
select probe.expect('and eastwards', probe.window_of('2027-11-01', 'Asia/Shanghai'), '31 23:00 01 16:00 1020');
select probe.expect('unknown zone', (select outcome from largesse.night_due('Europe/Nowhere', '02:00', 1)) || (select outcome from largesse.night_take(date '2027-11-01', 'Nowhere', '02:00', 1, 'c', '1 s', false)),
  'zone_unknownzone_unknown');

-- --- requests that wait to be judged hold it up for an hour

insert into largesse.claim_queue (activity_id, place, biz_id, user_id, quantity, queued_at) select id, 1, 'q1', 99, 1, '2027-11-01 20:00Z' from largesse.activity where code = 'run';
select probe.clock_set('2027-11-02 01:30Z');
select probe.expect('held up', (select outcome from largesse.night_due('Europe/Berlin', '02:00', 1)), 'none');
select probe.clock_set('2027-11-02 02:00Z');
select probe.expect('not for ever', (select outcome || ' ' || business_date from largesse.night_due('Europe/Berlin', '02:00', 1)), 'due 2027-11-01');
select probe.clock_set('2027-11-02 01:30Z');
update largesse.claim_queue set verdict = 'SOLD_OUT', judged_at = '2027-11-02 01:00Z';
select probe.expect('judged', (select outcome from largesse.night_due('Europe/Berlin', '02:00', 1)), 'due');

-- --- who may, and the list

set role largesse_reconciler;
select probe.expect('list', (select string_agg(place, ' ') from largesse.night_list('2027-10-31', 2)), '2027-10-30 2027-03-31');
select probe.expect('head', (select (doc::jsonb - 'startedAt' - 'finishedAt')::text from largesse.night_list(null, 1)),
  '{"date": "2027-10-31", "from": "2027-10-30T22:00:00.000000Z", "clean": true, "state": "done", "until": "2027-10-31T23:00:00.000000Z", "claims": 4, "failed": 0, "findings": 0, "quantity": 8, "timeZone": "Europe/Berlin"}');
do $$
begin
  perform 1 from largesse.night;
  raise exception 'the reconciler reads the table';
exception when insufficient_privilege then null;
end $$;
