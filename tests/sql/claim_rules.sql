-- SPDX-License-Identifier: Apache-2.0
-- Windows, limits, replays and refusals, as claim_submit judges them; refusals leave no row behind. B03, B06, B19, B23, B25.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
create function probe.claim(i_code text, i_biz text, i_user bigint, i_quantity int default 1) returns text language sql as $$
  select s.verdict from largesse.activity a cross join lateral
    largesse.claim_submit(a.id, array[i_biz], array[i_user], array[i_quantity], array[null::text], '5 s') s where a.code = i_code and s.ord = 1
$$;
create function probe.make(i_code text, i_doc jsonb) returns void language plpgsql as $$
declare v_out record;
begin
  perform largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
  select * into v_out from largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'Asia/Shanghai',
    'rewardCode', 'probe', 'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 10}'::jsonb) || i_doc, 'test', null);
  perform probe.expect('create ' || i_code, v_out.outcome, 'created');
  perform probe.expect('publish ' || i_code, (select outcome from largesse.activity_action(i_code, 'publish', 'test', null, null)), 'ok');
end $$;

-- B03: limit and stock together.
select probe.make('three', '{"stock": {"total": 3}}');
select probe.expect('A', probe.claim('three', 'a1', 1), 'ACCEPTED');
select probe.expect('A again', probe.claim('three', 'a2', 1), 'LIMIT_REACHED');
select probe.expect('B', probe.claim('three', 'b1', 2), 'ACCEPTED');
select probe.expect('C', probe.claim('three', 'c1', 3), 'ACCEPTED');
select probe.expect('D', probe.claim('three', 'd1', 4), 'SOLD_OUT');
select probe.expect('rows', (select count(*)::text from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = 'three'), '3');
select probe.expect('counters', (select sum(used)::text from largesse.usage u join largesse.activity a on a.id = u.activity_id where a.code = 'three'), '3');
select probe.expect('remaining', (select remaining::text from largesse.stock s join largesse.activity a on a.id = s.activity_id where a.code = 'three'), '0');
-- Replays stay replays after sell-out, pause and end; other content is refused.
select probe.expect('replay sold out', probe.claim('three', 'a1', 1), 'REPLAYED');
select probe.expect('other user', probe.claim('three', 'a1', 9), 'BIZ_ID_REUSED');
select probe.expect('other quantity', probe.claim('three', 'a1', 1, 2), 'BIZ_ID_REUSED');
select probe.expect('pause', (select outcome from largesse.activity_action('three', 'pause', 'test', 'x', null)), 'ok');
select probe.expect('paused', probe.claim('three', 'e1', 5), 'PAUSED');
select probe.expect('replay paused', probe.claim('three', 'a1', 1), 'REPLAYED');
select probe.expect('publish does not resume', (select outcome || ' ' || status from largesse.activity_action('three', 'publish', 'test', 'x', null)), 'STATE_CONFLICT paused');
select probe.expect('resume', (select status from largesse.activity_action('three', 'resume', 'test', 'x', null)), 'ongoing');
select probe.expect('finish', (select outcome from largesse.activity_action('three', 'finish', 'test', 'x', null)), 'ok');
select probe.expect('ended', probe.claim('three', 'e1', 5), 'ENDED');
select probe.expect('replay ended', probe.claim('three', 'b1', 2), 'REPLAYED');

-- B06: one request of several units never goes over what is left.
select probe.make('four', '{"stock": {"total": 4}, "limits": []}');
select probe.expect('5 of 4', probe.claim('four', 'x1', 1, 5), 'SOLD_OUT');
select probe.expect('4 of 4', probe.claim('four', 'x2', 1, 4), 'ACCEPTED');
select probe.expect('1 of 0', probe.claim('four', 'x3', 1, 1), 'SOLD_OUT');

-- A stock row that is gone is damage, not unlimited stock: nothing is accepted.
select probe.make('no-stock', '{"stock": {"total": 4}, "limits": []}');
delete from largesse.stock s using largesse.activity a where s.activity_id = a.id and a.code = 'no-stock';
do $$ begin
  perform probe.claim('no-stock', 'x1', 1);
  raise exception 'claimed without a stock row';
exception when serialization_failure then null; end $$;
delete from largesse.activity_history h using largesse.activity a where h.activity_id = a.id and a.code = 'no-stock';
delete from largesse.activity_limit l using largesse.activity a where l.activity_id = a.id and a.code = 'no-stock';
delete from largesse.activity where code = 'no-stock';

-- A changed total is an adjustment under a key that no caller can have used.
select probe.make('adjusted', '{}');
select probe.expect('own key', (select outcome from largesse.stock_adjust('adjusted', 'version-' || (a.version + 1), 5, 'x', 'test')), 'ok')
  from largesse.activity a where a.code = 'adjusted';
create temp table put as
  select (largesse.activity_put(jsonb_build_object('code', a.code, 'name', a.name, 'kind', a.kind, 'timeZone', a.time_zone, 'rewardCode', 'probe',
    'startAt', a.start_at, 'endAt', a.end_at, 'stock', '{"total": 20}'::jsonb), 'test', null)).* from largesse.activity a where a.code = 'adjusted';
select probe.expect('changed total', outcome || ' ' || array_to_string(changed, ','), 'updated stock.total') from put;
select probe.expect('both count', remaining::text, '20') from largesse.stock s join largesse.activity a on a.id = s.activity_id where a.code = 'adjusted';

-- B25: the window decides, the status may lag: start inclusive, end exclusive.
select probe.make('early', jsonb_build_object('startAt', now() + interval '1 hour'));
select probe.expect('before the start', probe.claim('early', 'x', 1), 'NOT_STARTED');
update largesse.activity set start_at = clock_timestamp() where code = 'early';
select probe.expect('published and past its start', probe.claim('early', 'x', 1), 'ACCEPTED');
update largesse.activity set status = 'ongoing', end_at = clock_timestamp() where code = 'early';
select probe.expect('ongoing and past its end', probe.claim('early', 'y', 2), 'ENDED');
select probe.expect('at start', coalesce(largesse.activity_open_state('published', '2026-01-01Z', '2026-01-02Z', '2026-01-01Z'), 'open'), 'open');
select probe.expect('1 ms before start', largesse.activity_open_state('ongoing', '2026-01-01Z', '2026-01-02Z', '2025-12-31 23:59:59.999Z'), 'NOT_STARTED');
select probe.expect('1 ms before end', coalesce(largesse.activity_open_state('published', '2026-01-01Z', '2026-01-02Z', '2026-01-01 23:59:59.999Z'), 'open'), 'open');
select probe.expect('at end', largesse.activity_open_state('ongoing', '2026-01-01Z', '2026-01-02Z', '2026-01-02Z'), 'ENDED');

-- A day limit counts quantity, names what refuses, and resets at local midnight.
select probe.make('daily', '{"limits": [{"count": 3, "period": "day"}]}');
select probe.expect('2 of 3', probe.claim('daily', 'x1', 7, 2), 'ACCEPTED');
select probe.expect('2 more', probe.claim('daily', 'x2', 7, 2), 'LIMIT_REACHED');
select probe.expect('1 more', probe.claim('daily', 'x3', 7, 1), 'ACCEPTED');
select probe.expect('why', (select detail::jsonb - 'resetsAt' from largesse.activity a cross join lateral
    largesse.claim_submit(a.id, array['x4'], array[7::bigint], array[1], array[null::text], '5 s') s where a.code = 'daily' and s.ord = 1)::text,
  '{"rule": "limit.day", "count": 3, "limit": 3}');
select probe.expect('midnight in Shanghai', largesse.period_start('day', '2026-05-01T15:59:59Z', 'Asia/Shanghai')::text, '2026-05-01');
select probe.expect('after midnight', largesse.period_start('day', '2026-05-01T16:00:01Z', 'Asia/Shanghai')::text, '2026-05-02');
select probe.expect('resets', largesse.time_text(largesse.period_reset('day', '2026-05-01T16:00:01Z', 'Asia/Shanghai')), '2026-05-02T16:00:00.000000Z');
select probe.expect('ISO week', largesse.period_start('week', '2027-01-03T12:00:00Z', 'UTC')::text, '2026-12-28');

-- Drafts and unknown activities look the same.
select largesse.activity_put(jsonb_build_object('code', 'draft', 'name', 'd', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 1}'::jsonb), 'test', null);
select probe.expect('draft', probe.claim('draft', 'x', 1), 'ACTIVITY_NOT_FOUND');
select probe.expect('unknown', (select verdict from largesse.claim_submit(1, array['x'], array[1::bigint], array[1], array[null::text], '5 s') where ord = 1), 'ACTIVITY_NOT_FOUND');

-- Local times: the gap is refused (null), the repeated hour takes the first. B28.
select probe.expect('gap', largesse.time_text(largesse.local_time('2027-03-28 02:30', 'Europe/Berlin')), null);
select probe.expect('repeated', largesse.time_text(largesse.local_time('2027-10-31 02:30', 'Europe/Berlin')), '2027-10-31T00:30:00.000000Z');
select probe.expect('plain', largesse.time_text(largesse.local_time('2026-10-01 11:00', 'Asia/Shanghai')), '2026-10-01T03:00:00.000000Z');

do $$ begin
  if exists (select from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r
              where a.code <> 'early') then raise exception 'the audit has findings'; end if;
end $$;
