-- SPDX-License-Identifier: Apache-2.0
-- Queued intake: places in order, one click once, verdicts that are kept for an hour, judging by the instant of queueing, turns of activities, pauses, a full queue,
-- a request that breaks its judgement.
create schema probe;
create function probe.make(i_code text, i_stock bigint, i_kind text default 'reward') returns bigint language plpgsql as $$
declare v_id bigint;
begin
  perform largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
  perform largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
    'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', jsonb_build_object('total', i_stock)), 'test', null);
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
  update largesse.activity set intake = 'queued' where code = i_code returning id into v_id;
  return v_id;
end $$;
-- Queues clicks k<from>… of users <from>…; what came of it, in one text.
create function probe.queue(i_id bigint, i_from int, i_to int, i_max bigint default 1000, i_may_add boolean default true) returns text language sql as $$
  select string_agg(coalesce(q.verdict, '?') || coalesce(' ' || q.status, '') || coalesce(' ' || (q.detail::json ->> 'position'), ''), ', ' order by q.ord)
    from (select array_agg('k' || k order by k) as b, array_agg(k::bigint order by k) as u, array_agg(1) as q, array_agg(null::text) as c, array_agg('00-trace'::text) as t
            from generate_series(i_from, i_to) k) r
   cross join lateral largesse.claim_enqueue(i_id, r.b, r.u, r.q, r.c, null, null, r.t, i_max, i_may_add) q where q.ord > 0
$$;
create function probe.step(i_rows int) returns text language sql as $$
  select coalesce(string_agg(format('%s %s %s', s.activity_code, s.biz_id, s.verdict), ', '), 'nothing') from largesse.claim_queue_step(i_rows, '5 s') s
$$;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: % instead of %', i_what, i_actual, i_expected; end if;
end $$;

select probe.make('a', 3), probe.make('b', 100);
create temp table act as select code, id from largesse.activity;
create function probe.id(i_code text) returns bigint language sql as $$ select id from largesse.activity where code = i_code $$;

-- Places count up; the same click keeps its place, another content is refused; only looking adds nothing.
select probe.expect('first', probe.queue(probe.id('a'), 1, 3), 'QUEUED queued 1, QUEUED queued 2, QUEUED queued 3');
select probe.expect('again', probe.queue(probe.id('a'), 2, 4), 'QUEUED known 2, QUEUED known 3, QUEUED queued 4');
select probe.expect('looking', probe.queue(probe.id('a'), 4, 5, 1000, false), 'QUEUED known 4, UNKNOWN');
select probe.expect('other content', (select string_agg(verdict, ',' order by ord) from largesse.claim_enqueue(probe.id('a'), array['k1', 'k1', 'n1', 'n1', 'n1'], array[2, 1, 9, 9, 8],
  array[1, 1, 1, 1, 1], array[null, null, null, null, null]::text[], null, null, array['', '', '', '', ''], 1000, true) where ord > 0),
  'BIZ_ID_REUSED,QUEUED,QUEUED,QUEUED,BIZ_ID_REUSED');
-- A full queue takes what fits and nothing of the rest.
select probe.expect('full', probe.queue(probe.id('a'), 6, 9, 7), 'QUEUED queued 6, QUEUED queued 7, QUEUE_FULL, QUEUE_FULL');
select probe.expect('full, but known', probe.queue(probe.id('a'), 7, 8, 7), 'QUEUED known 7, QUEUE_FULL');

-- Turns: the one that waited longest is next; each takes as many as it may.
select probe.expect('b', probe.queue(probe.id('b'), 21, 23), 'QUEUED queued 1, QUEUED queued 2, QUEUED queued 3');
select probe.expect('turn of a', probe.step(2), 'a k1 ACCEPTED, a k2 ACCEPTED');
select probe.expect('turn of b', probe.step(2), 'b k21 ACCEPTED, b k22 ACCEPTED');
select probe.expect('place moves up', probe.queue(probe.id('a'), 3, 4), 'QUEUED known 1, QUEUED known 2');
select probe.expect('accepted is a replay', probe.queue(probe.id('a'), 1, 1), 'REPLAYED issuing');
-- Pauses wait, and refuse newcomers at once.
select largesse.activity_action('a', 'pause', 'test', 'tea', null);
select probe.expect('paused a is passed over', probe.step(10), 'b k23 ACCEPTED');
select probe.expect('nothing else', probe.step(10), 'nothing');
select probe.expect('paused', probe.queue(probe.id('a'), 3, 3) || ' / ' || probe.queue(probe.id('a'), 30, 30), 'QUEUED known 1 / PAUSED');
select largesse.activity_action('a', 'resume', 'test', 'tea is over', null);
-- Queued in time is in time, though it is judged after the end.
update largesse.activity set end_at = clock_timestamp(), start_at = start_at - interval '1 hour' where code = 'a';
select probe.expect('too late', probe.queue(probe.id('a'), 31, 31), 'ENDED');
update largesse.activity set status = 'finished' where code = 'a';
select probe.expect('judged after the end', probe.step(3), 'a k3 ACCEPTED, a k4 SOLD_OUT, a n1 SOLD_OUT');
select probe.expect('a verdict is told again', probe.queue(probe.id('a'), 4, 4, 1000, false), 'SOLD_OUT known');
-- A dry run knows what was queued.
create function probe.dry(i_biz text, i_user bigint) returns text language sql as $$
  select concat_ws(' ', d.verdict, d.detail::json ->> 'allowed', d.detail::json ->> 'replayed', d.detail::json #>> '{request,status}')
    from largesse.claim_explain('a', i_user, i_biz, 1, null, null, null) d
$$;
select probe.expect('dry runs', concat_ws(', ', probe.dry('k3', 3), probe.dry('k4', 4), probe.dry('k4', 5), probe.dry('k6', 6)),
  'REPLAYED true true, SOLD_OUT false true refused, BIZ_ID_REUSED false, QUEUED true true queued');
select probe.expect('shown', (select verdict || ' ' || detail || ' ' || (request::json ->> 'status') from largesse.claim_queue_show('a', 'k4')), 'SOLD_OUT {"remaining":0} refused');
select probe.expect('the rest', probe.step(10), 'a k6 SOLD_OUT, a k7 SOLD_OUT');
select probe.expect('created when it was queued', (select count(*)::text from largesse.claim c join largesse.activity a on a.id = c.activity_id where a.code = 'a' and c.created_at < a.end_at), '3');
select probe.expect('refusals are counted', (select sum(refusals)::text from largesse.refusal_count r where r.activity_id = probe.id('a') and r.code = 'SOLD_OUT'), '4');
select probe.expect('figures', (select waiting || ' ' || oldest_ms from largesse.claim_queue_figures()), '0 0');
-- Verdicts are kept for an hour; then the click may be tried again.
update largesse.claim_queue set judged_at = judged_at - interval '59 minutes' where biz_id in ('k4', 'k6');
update largesse.claim_queue set judged_at = judged_at - interval '2 minutes' where biz_id = 'k6';
update largesse.activity set status = 'ongoing', end_at = now() + interval '1 hour' where code = 'a';
select probe.expect('within and after the hour', probe.queue(probe.id('a'), 4, 4) || ' / ' || probe.queue(probe.id('a'), 6, 6), 'SOLD_OUT known / QUEUED queued 1');
update largesse.claim_queue set judged_at = judged_at - interval '2 hours' where biz_id = 'k7';
select probe.expect('purged', (select largesse.claim_queue_purge(100)::text || ' ' || count(*) from largesse.claim_queue), '1 4');
select probe.expect('sold out once more', probe.step(10), 'a k6 SOLD_OUT');

-- Numbers travel with the request. What raises an error is refused alone.
select probe.make('n', 10);
update largesse.activity set kind = 'number' where code = 'n';
delete from largesse.activity_limit where activity_id = probe.id('n');
insert into largesse.activity_number (activity_id, number) select probe.id('n'), k from generate_series(1, 9) k;
select probe.expect('numbers', (select string_agg(verdict, ',' order by ord) from largesse.claim_enqueue(probe.id('n'), array['p', 'q', 'r', 'p'], array[1, 2, 3, 1], array[2, 2, 1, 2],
  array[null, null, null, null]::text[], array[1, 1, 2, 2, 3, 4, 4], array[3, 5, 5, 6, 7, 3, 5], array['', '', '', ''], 1000, true) where ord > 0), 'QUEUED,QUEUED,QUEUED,QUEUED');
select probe.expect('other numbers', (select string_agg(verdict, ',' order by ord) from largesse.claim_enqueue(probe.id('n'), array['p'], array[1], array[2], array[null]::text[],
  array[1, 1], array[3, 6], array[''], 1000, true) where ord > 0), 'BIZ_ID_REUSED');
update largesse.claim_queue set quantity = 3 where biz_id = 'r';
select probe.expect('one breaks', probe.step(10), 'n p ACCEPTED, n q NUMBER_TAKEN, n r INVALID_REQUEST');
select probe.expect('the numbers are sold', (select string_agg(number::text, ',' order by number) from largesse.activity_number where status = 'sold'), '3,5');
select probe.expect('unknown activity', probe.queue(1, 1, 1), 'ACTIVITY_NOT_FOUND');
do $$ begin if exists (select from largesse.claim_queue_tail t join largesse.claim_queue_head h using (activity_id) where t.queued <> h.judged) then raise exception 'some still wait'; end if; end $$;
