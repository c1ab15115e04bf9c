-- SPDX-License-Identifier: Apache-2.0
-- News for the business: rows that hold many events, what cannot be sent (B66), and deliveries to webhook endpoints.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
create function probe.emit(i_type text, i_from int, i_count int) returns void language sql as $$
  select largesse.event_emit(i_type, largesse.clock_now(), array_agg('e-' || n), array_agg('s' || n), array_agg(''::text), array_agg(json_build_object('n', n)::text))
    from generate_series(i_from, i_from + i_count - 1) n
$$;
create function probe.left_of(i_id bigint) returns text language sql as $$
  select tries || ' ' || array_to_string(event_ids, ',') || ' ' || array_to_string(subjects, ',') || ' ' || array_to_string(docs, '') || ' ' || fault || ' ' || (parked_at is not null)
    from largesse.event_out where id = i_id
$$;

-- No news leaves no row; one statement's news is one row.
select largesse.event_emit('x.y', now(), null, null, null, null), largesse.event_emit('x.y', now(), '{}', '{}', '{}', '{}');
select probe.expect('nothing', count(*)::text, '0') from largesse.event_out;
select probe.emit('claim.succeeded', 1, 100), probe.emit('claim.failed', 101, 3), probe.emit('claim.succeeded', 104, 100);
select probe.expect('rows', count(*)::text, '3') from largesse.event_out;

-- A take ends with the row that reaches the number of events, and always takes one.
create temp table taken as select * from largesse.event_out_take(10, 101, '1 hour');
select probe.expect('taken', string_agg(type, ',' order by id), 'claim.succeeded,claim.failed') from taken;
select probe.expect('an event a line', string_agg(array_length(string_to_array(docs, E'\n'), 1) || ' ' || array_length(string_to_array(traces, E'\n'), 1), ',' order by id), '100 100,3 3') from taken;
select probe.expect('a large one', count(*)::text, '1') from largesse.event_out_take(10, 1, '1 hour');

-- B66: of a row, what is left is tried again, then parked and no longer taken; the rest of the queue goes on.
create temp table bad as select max(id) as id from taken;
select probe.expect('not parked yet', is_parked::text, 'false') from bad, largesse.event_out_postpone(id, array[3, 1], 'too big', '0 s', 3);
select probe.expect('reduced', probe.left_of(id), '1 e-101,e-103 s101,s103 {"n" : 101}{"n" : 103} too big false') from bad;
select probe.expect('again', count(*)::text, '1') from largesse.event_out_take(10, 1000, '0 s');
select largesse.event_out_postpone(id, array[2], 'too big', '0 s', 3) from bad;
select probe.expect('parked', is_parked::text, 'true') from bad, largesse.event_out_postpone(id, array[1], 'too big', '0 s', 3);
select probe.expect('parked row', probe.left_of(id), '3 e-103 s103 {"n" : 103} too big true') from bad;
select probe.expect('parked stays', count(*)::text, '0') from bad, largesse.event_out_postpone(id, array[1], 'x', '0 s', 9);
select probe.expect('none is due', count(*)::text, '0') from largesse.event_out_take(10, 1000, '0 s');
select probe.emit('claim.succeeded', 300, 1);
select probe.expect('others go on', string_agg(event_ids, ','), 'e-300') from largesse.event_out_take(10, 1000, '1 hour');
select probe.expect('figures', parked || ' ' || (lag_seconds between 0 and 3600), '1 true') from largesse.event_out_figures();
select probe.expect('listed', (doc::json ->> 'firstEventId') || ' ' || (doc::json ->> 'fault'), 'e-103 too big') from largesse.event_out_parked(null, 10);
select probe.expect('kept', largesse.event_out_purge('1 day')::text, '0');
select probe.expect('retried', largesse.event_out_retry(null)::text, '1');
select probe.expect('due again', string_agg(event_ids, ','), 'e-103') from largesse.event_out_take(10, 1000, '0 s');
select largesse.event_out_postpone(id, array[1], 'too big', '0 s', 1) from bad;
select probe.expect('discarded', largesse.event_out_discard(array(select id from bad))::text, '1');
select probe.emit('claim.succeeded', 400, 2);
select largesse.event_out_postpone(id, array[1, 2], 'x', '0 s', 1) from largesse.event_out order by id desc limit 1;
select probe.expect('purged', largesse.event_out_purge('-1 s')::text, '2');
delete from largesse.event_out;

-- Endpoints are told what they asked for, and nothing that happened before.
select largesse.webhook_register(array['all', 'claims', 'one'], array['http://a', 'http://b', 'http://c'], array['1', '2', '3'], array['*', 'claim.* x', 'claim.failed']);
select probe.emit('claim.failed', 1, 2), probe.emit('claim.succeeded', 3, 1), probe.emit('claims', 4, 1);
select probe.expect('wanted', string_agg(endpoint || ' ' || event_id, ',' order by endpoint, event_id), 'all e-1,all e-2,all e-3,all e-4,claims e-1,claims e-2,claims e-3,one e-1,one e-2')
  from largesse.webhook_out;
select probe.expect('body', (body::json ->> 'type') || ' ' || (body::json #>> '{data,n}') || ' ' || ((body::json ->> 'timestamp')::timestamptz = created_at), 'claim.failed 1 true')
  from largesse.webhook_out where endpoint = 'one' and event_id = 'e-1';

-- Taking counts and leases; settling is fenced by the attempt.
create temp table sent as select * from largesse.webhook_take('claims', 2, '1 hour');
select probe.expect('taken', string_agg(event_id || ' ' || attempt || ' ' || tries, ',' order by id), 'e-1 1 1,e-2 1 1') from sent;
select probe.expect('leased', string_agg(event_id, ','), 'e-3') from largesse.webhook_take('claims', 10, '1 hour');
create function probe.settle(i_endpoint text, i_outcome text, i_attempt int, i_after interval default '5 days') returns text language sql as $$
  select coalesce(s.disabled_by, '-') from (select array_agg(id order by id) as ids, count(*)::int as n from sent) x cross join lateral
    largesse.webhook_settle(i_endpoint, x.ids, array_fill(i_attempt, array[x.n]), array_fill(i_outcome, array[x.n]), array_fill(500, array[x.n]), array_fill('why'::text, array[x.n]),
      array_fill(0::bigint, array[x.n]), i_after) s
$$;
create function probe.states(i_endpoint text) returns text language sql as $$
  select string_agg(event_id || ' ' || state || ' ' || attempts, ',' order by id) from largesse.webhook_out where endpoint = i_endpoint
$$;
select probe.expect('an old attempt', probe.settle('claims', 'done', 0), '-');
select probe.expect('changes nothing', probe.states('claims'), 'e-1 waiting 1,e-2 waiting 1,e-3 waiting 1');
update largesse.webhook_endpoint set failing_since = null;
select probe.expect('failed', probe.settle('claims', 'retry', 1), '-');
select probe.expect('due again', string_agg(event_id || ' ' || attempt, ',' order by id), 'e-1 2,e-2 2') from largesse.webhook_take('claims', 10, '1 hour');
select probe.expect('failing', (failing_since is not null)::text || ' ' || last_failure, 'true why') from largesse.webhook_endpoint where name = 'claims';
select probe.expect('dead', probe.settle('claims', 'dead', 2), '-');
select probe.expect('states', probe.states('claims'), 'e-1 dead 2,e-2 dead 2,e-3 waiting 1');
select probe.expect('a dead one is settled once', probe.settle('claims', 'done', 2) || ' ' || probe.states('claims'), '- e-1 dead 2,e-2 dead 2,e-3 waiting 1');
select probe.expect('a success ends failing', (failing_since is null)::text, 'true') from largesse.webhook_endpoint where name = 'claims';

-- Replays: dead ones by time, or one whatever became of it; the bytes stay.
create temp table before as select id, body, event_id from largesse.webhook_out;
create function probe.replay(i_endpoint text, i_id bigint, i_done boolean, i_after bigint, i_limit int, i_reason text) returns text language sql as $$
  select replayed || case when last_id is null then '' else ' to ' || (select event_id from largesse.webhook_out where id = last_id) end
    from largesse.webhook_replay(i_endpoint, i_id, case when i_id is null then '-infinity'::timestamptz end, i_done, i_after, i_limit, 'me', i_reason)
$$;
select probe.expect('unknown', probe.replay('nobody', null, true, 0, 10, 'test'), null);
select probe.expect('replayed', probe.replay('claims', null, false, 0, 1, 'test'), '1 to e-1');
select probe.expect('and the next', probe.replay('claims', null, false, min(id), 10, null), '1 to e-2') from sent;
select probe.expect('ladder anew', string_agg(event_id || ' ' || attempt || ' ' || tries, ',' order by id), 'e-1 3 1,e-2 3 1') from largesse.webhook_take('claims', 10, '1 hour');
select probe.expect('done', probe.settle('claims', 'done', 3), '-');
select probe.expect('not by time', probe.replay('claims', null, false, 0, 10, 'test'), '0');
select probe.expect('one by id', probe.replay('claims', min(id), false, 0, 10, 'test'), '1 to e-1') from sent;
select probe.expect('delivered ones too', probe.replay('claims', null, true, 0, 10, 'test'), '1 to e-2');
select probe.expect('same bytes', count(*)::text, '9') from largesse.webhook_out join before using (id, body, event_id);
select probe.expect('recorded', count(*)::text, '4') from largesse.webhook_change where endpoint = 'claims' and action = 'replayed';

-- Disabled: by 410, after too long without a success, by an operator; nothing is taken and nothing new comes, and it is told as an event.
truncate sent;
insert into sent select * from largesse.webhook_take('one', 1, '1 hour');
select probe.expect('gone', probe.settle('one', 'gone', 1), 'gone');
select probe.expect('told once', probe.settle('one', 'gone', 1), '-');
select probe.expect('nothing is taken', count(*)::text, '0') from largesse.webhook_take('one', 10, '0 s');
select probe.emit('claim.failed', 900, 1);
select probe.expect('nothing comes', count(*)::text, '2') from largesse.webhook_out where endpoint = 'one';
select probe.expect('an event', string_agg(type || ' ' || subjects[1], ','), 'webhook.disabled one') from largesse.event_out where type like 'webhook.%';
select probe.expect('told the others', count(*)::text, '1') from largesse.webhook_out where endpoint = 'all' and type = 'webhook.disabled';
select probe.expect('same address', largesse.webhook_register(array['all', 'one'], array['http://a', 'http://c'], array['1', '3'], array['*', 'claim.failed'])::text, '');
select probe.expect('stays disabled', disabled_by, 'gone') from largesse.webhook_endpoint where name = 'one';
-- A fulfiller that does not have an endpoint takes it from nobody; only after a while without a name nobody is told any more, until one names it again.
select largesse.webhook_name(array['all', 'one'], '1 minute');
select probe.expect('still told', doc::json ->> 'configured', 'true') from largesse.webhook_list(null, 10) where name = 'claims';
update largesse.webhook_endpoint set named_at = now() - interval '61 s';
select largesse.webhook_name(array['all', 'one'], null);
select probe.expect('not forgotten by one that has just started', doc::json ->> 'configured', 'true') from largesse.webhook_list(null, 10) where name = 'claims';
select largesse.webhook_name(array['claims'], '1 minute');
select largesse.webhook_name(array['all', 'one'], '1 minute');
select probe.expect('by either', count(*)::text, '3') from largesse.webhook_endpoint where is_configured;
update largesse.webhook_endpoint set named_at = now() - interval '61 s' where name = 'claims';
select largesse.webhook_name(array['all', 'one'], '1 minute');
select probe.expect('forgotten', count(*)::text, '2') from largesse.webhook_endpoint where is_configured;
select largesse.webhook_name(array['claims'], '1 minute');
select probe.expect('named again', types::text, '{claim.*,x}') from largesse.webhook_endpoint where is_configured and name = 'claims';
update largesse.webhook_endpoint set named_at = now() - interval '61 s' where name = 'claims';
select largesse.webhook_name(array['all', 'one'], '1 minute');
select probe.expect('removed', doc::json ->> 'status', 'removed') from largesse.webhook_list(null, 10) where name = 'claims';
select largesse.webhook_register(array['all', 'one'], array['http://a', 'http://d'], array['1', '4'], array['*', 'claim.failed']);
select probe.expect('another address', coalesce(disabled_by, '-'), '-') from largesse.webhook_endpoint where name = 'one';
select probe.expect('what waited is due', count(*)::text, '2') from largesse.webhook_take('one', 10, '0 s');
select probe.expect('failing for a while', probe.settle('one', 'retry', 2, '1 hour'), '-');
update largesse.webhook_endpoint set failing_since = now() - interval '2 hours' where name = 'one';
select probe.expect('failing for too long', probe.settle('one', 'retry', 2, '1 hour'), 'failing');
select probe.expect('enabled', largesse.webhook_switch('one', true, 'me', 'test'), 'changed');
select probe.expect('once', largesse.webhook_switch('one', true, 'me', 'test'), 'unchanged');
select probe.expect('clean', (failing_since is null)::text, 'true') from largesse.webhook_endpoint where name = 'one';
select probe.expect('disabled', largesse.webhook_switch('one', false, 'me', 'test'), 'changed');
select largesse.webhook_register(array['all', 'one'], array['http://a', 'http://e'], array['1', '5'], array['*', 'claim.failed']);
select probe.expect('an operator stays right', disabled_by, 'operator') from largesse.webhook_endpoint where name = 'one';
select probe.expect('unknown', largesse.webhook_switch('nobody', false, 'me', 'test'), null);

-- A ping goes to one endpoint, whatever it asked for.
create temp table ping as select largesse.webhook_ping('one', 'me', 'test') as id;
select probe.expect('ping', type || ' ' || endpoint, 'webhook.ping one') from largesse.webhook_out join ping using (id);
select probe.expect('no ping', largesse.webhook_ping('claims', 'me', 'test')::text, null);

-- Purging: what ended, and what nobody is configured for; never what waits for somebody.
select probe.expect('kept', largesse.webhook_purge('1 day', 1000)::text, '0');
update largesse.webhook_out set created_at = now() - interval '8 days';
update largesse.webhook_out set finished_at = now() - interval '8 days' where state <> 'waiting';
create temp table waits as select id from largesse.webhook_out where state = 'waiting' and endpoint <> 'claims';
select largesse.webhook_purge('7 days', 1000);
select probe.expect('purged', (select count(*) from largesse.webhook_out)::text, (select count(*) from waits)::text);
select probe.expect('deliveries', count(*)::text, '3') from largesse.webhook_deliveries('one', 'waiting', null, 10);
