-- SPDX-License-Identifier: Apache-2.0
-- Archives: what is exported, what stands against it, months that are sealed, detached and brought back; and what everybody hears meanwhile about their claims.
\ir ../support/test_clock.sql
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
create function probe.id(i_code text) returns bigint language sql as $$ select id from largesse.activity where code = i_code $$;
create function probe.month() returns int language sql as $$ select (probe.id('spring') / 1000000)::int $$;
create function probe.activity(i_code text, i_limits text, i_event text default null) returns void language plpgsql as $$
declare v_put record;
begin
  select * into v_put from largesse.activity_put(jsonb_strip_nulls(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'registration', 'timeZone', 'UTC', 'eventCode', i_event,
    'startAt', largesse.clock_now() - interval '1 hour', 'endAt', largesse.clock_now() + interval '1 hour', 'stock', '{"total": 10}'::jsonb, 'limits', i_limits::jsonb)), 'test', null);
  perform probe.expect('put of ' || i_code, v_put.outcome || coalesce(v_put.detail, ''), 'created');
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
  perform largesse.activity_advance(10);
end $$;
create function probe.claim(i_code text, i_biz text, i_user bigint, i_quantity int default 1) returns text language sql as $$
  select s.verdict || coalesce(' ' || s.status, '') from largesse.claim_submit(probe.id(i_code), array[i_biz], array[i_user], array[i_quantity], array[null::text], '5 s') s where s.ord = 1
$$;
create function probe.findings() returns text language sql as $$
  select coalesce(string_agg(distinct d.name, ' ' order by d.name), 'none') from largesse.audit_begin('all', null, null, false) r cross join lateral largesse.audit_activities(r.run_id, 0, 100) a,
    largesse.audit_definition d, largesse.audit_run(d.name, a.activity_id) where a.is_in_scope and d.source = 'audit'
$$;
create function probe.lines(i_code text, i_table text) returns text language plpgsql as $$
declare v_cursor refcursor; v_line text; v_all text[];
begin
  v_cursor := largesse.archive_open(probe.id(i_code), i_table);
  loop
    fetch v_cursor into v_line;
    exit when not found;
    v_all := v_all || v_line;
  end loop;
  close v_cursor;
  return array_to_string(v_all, E'\n');
end $$;
create function probe.export(i_code text) returns text language plpgsql as $$
declare b record; v_outcome text;
begin
  select * into b from largesse.archive_begin(i_code);
  if b.outcome <> 'ok' then return b.outcome || ': ' || b.detail; end if;
  select c.outcome || coalesce(': ' || c.detail, '') into v_outcome
    from largesse.archive_confirm(b.activity_id, '/archive/' || i_code, sha256('x'), 10, 3, '[]', b.state_hash, b.at, 'test', 'over') c;
  return v_outcome;
end $$;
create function probe.blockers() returns text language sql as $$
  select coalesce(string_agg(coalesce(b.activity_code || ' ', '') || b.why, '; ' order by b.activity_code, b.why), 'none') from largesse.archive_month_blockers(probe.month(), '30 days') b
$$;
insert into largesse.event (code, name, time_zone, created_at, updated_at) values ('fair', 'fair', 'UTC', now(), now());
-- Two sessions of an event in one month, and one more three months later.
select largesse.clock_set('2026-02-10 12:00Z' - clock_timestamp());
select probe.activity('spring', '[{"count": 9, "period": "event"}]', 'fair'), probe.activity('other', '[]');
select probe.expect('claims', probe.claim('spring', 's1', 1, 2), 'ACCEPTED succeeded'), probe.expect('claims', probe.claim('spring', 's2', 2), 'ACCEPTED succeeded'),
  probe.expect('claims', probe.claim('other', 'o1', 1), 'ACCEPTED succeeded');
select probe.expect('what runs is not exported', probe.export('spring'), 'not_finished: it is ongoing; only what is finished is archived');
select largesse.clock_set('2026-02-10 14:00Z' - clock_timestamp());
select largesse.activity_advance(10);
select probe.expect('not everything is finished', probe.blockers(), 'other was not exported; spring was not exported; the month has not been over for 30 days');

-- What is exported: rows as JSON, in an order, nothing of others.
select probe.expect('claims', (select string_agg(concat_ws(' ', l::json ->> 'biz_id', l::json ->> 'quantity', l::json ->> 'status', l::json ->> 'deadline'), '; ') from string_to_table(probe.lines('spring', 'claim'), E'\n') l),
  's1 2 succeeded; s2 1 succeeded');
select probe.expect('every table can be read', (select count(*)::text from largesse.archive_tables() t cross join lateral probe.lines('spring', t.name) where t.name is not null), (select count(*)::text from largesse.archive_tables()));
select probe.expect('all tables of activities are there', (select string_agg(c.table_name, ' ' order by c.table_name) from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
   where c.table_schema = 'largesse' and c.column_name = 'activity_id' and t.table_type = 'BASE TABLE' and c.table_name !~ '_[0-9]{6}$' and c.table_name not in (select name from largesse.archive_tables())
     and c.table_name not in ('activity_limit_peak', 'activity_reward', 'archive', 'archive_event_usage', 'audit_mark', 'audit_part', 'audit_run', 'redemption_rule', 'claim_queue_head', 'claim_queue_tail', 'group_member', 'waiting_entry')), null);

-- What is open stands against it.
insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at) select activity_id, id, 'wallet', 'test', largesse.clock_now() from largesse.claim where biz_id = 's2';
select probe.expect('a letter is open', probe.export('spring'), 'open: 1 open dead letters');
update largesse.dead_letter set closed_at = largesse.clock_now(), resolution = 'resolved';
update largesse.claim set refund_since = now(), refund = 'owed', payment = 'done', payment_id = 1 where biz_id = 's2';
select probe.expect('money is owed', probe.export('spring'), 'open: 1 refunds or reversals that are owed');
update largesse.claim set refund_since = null, refund = null, payment = null, payment_id = null where biz_id = 's2';
select probe.expect('exported', probe.export('spring'), 'ok');
select probe.expect('flagged', (select status from largesse.activity where code = 'spring'), 'archived');
select probe.expect('in the log', (select string_agg(action || ' ' || target || ' ' || reason, '; ' order by seq) from largesse.operator_log where action = 'activity.export'), 'activity.export spring over');
select probe.expect('what is left to do', (select string_agg(code, ' ') from largesse.archive_candidates(largesse.clock_now(), 0, 10)), 'other');
select probe.expect('exported', probe.export('other'), 'ok');
select probe.expect('current', (select string_agg(doc::json ->> 'state', ' ') from largesse.archive_list('2026-02', 0, 10)), 'current current');
-- News after the export is told.
update largesse.claim set updated_at = largesse.clock_now() where biz_id = 's2';
select probe.expect('changed', (select string_agg(doc::json ->> 'state', ' ') from largesse.archive_list(null, 0, 10)), 'changed current');
select largesse.clock_set('2026-05-10 12:00Z' - clock_timestamp());
select probe.expect('export it again', probe.blockers(), 'spring its rows have changed since the export; export it again');
select probe.expect('exported again', probe.export('spring'), 'ok');
select probe.activity('summer', '[{"count": 9, "period": "event"}]', 'fair');
select probe.expect('claims', probe.claim('summer', 'u1', 1, 3), 'ACCEPTED succeeded');
select probe.expect('clean', probe.findings(), 'none');

-- Sealed: nobody changes a row; who asks hears what was.
create table probe.before as select 'claim' as t, c::text from largesse.claim c union all select 'usage', u::text from largesse.usage u;
create function probe.sealed(i_sql text) returns text language plpgsql as $$
begin
  execute i_sql;
  return 'changed';
exception when object_not_in_prerequisite_state then return 'sealed';
end $$;
insert into largesse.finding (key, kind, severity, activity_id, expected, actual, state, opened_at, last_seen_at) values ('f', 'claims_stuck', 'high', probe.id('spring'), 'e', 'a', 'opened', now(), now());
select probe.expect('a finding stands against it', (select outcome || ' ' || detail from largesse.archive_seal(probe.month(), '30 days', 'test', 'old')), 'blocked spring: 1 findings');
select probe.expect('and nothing is sealed', probe.sealed('update largesse.claim set sweeps = 0 where biz_id = ''s1'''), 'changed');
delete from largesse.finding;
insert into largesse.statement_item (provider, activity_id, claim_id, kind, statement_id, at, seen_at, due_at, state, finding_key)
  values ('wallet', probe.id('spring'), 1, 'credit', 1, now(), now(), now(), 'missing', 'm');
select probe.expect('nor while a statement lacks something', (select outcome || ' ' || detail from largesse.archive_seal(probe.month(), '30 days', 'test', 'old')),
  'blocked spring: 1 movements that no statement has shown yet');
insert into largesse.finding (key, kind, severity, activity_id, expected, actual, state, opened_at, last_seen_at, gone_at, resolved_at, resolved_by, resolve_reason)
  values ('m', 'statement_missing_at_provider', 'high', probe.id('spring'), 'e', 'a', 'gone', now(), now(), now(), now(), 'ann', 'the provider has confirmed it by letter');
select probe.expect('which somebody has explained', probe.blockers(), 'none');
delete from largesse.statement_item;
delete from largesse.finding;
select probe.expect('a month that runs', (select outcome from largesse.archive_seal((probe.id('summer') / 1000000)::int, '30 days', 'test', 'old')), 'blocked');
select probe.expect('sealed', (select outcome from largesse.archive_seal(probe.month(), '30 days', 'test', 'old')), 'sealed');
select probe.expect('again', (select outcome from largesse.archive_seal(probe.month(), '30 days', 'test', 'old')), 'sealed');
select probe.expect(s, probe.sealed(s), 'sealed') from unnest(array['update largesse.claim set sweeps = 0 where biz_id = ''s1''', 'delete from largesse.claim where biz_id = ''s1''', 'truncate largesse.claim_202602',
  'insert into largesse.usage values (' || probe.id('spring') || ', 77, ''total'', ''-infinity'', 1, 1)']) s;
select probe.expect('others go on', probe.claim('summer', 'u2', 2), 'ACCEPTED succeeded');
select probe.expect('not audited, and not missed', probe.findings(), 'none');
-- The seal taken off, and put on again.
select probe.expect('taken off', largesse.archive_attach(probe.month(), 'test', 'wait'), 'attached');
select probe.expect('rows change again', probe.sealed('update largesse.claim set sweeps = 0 where biz_id = ''s1'''), 'changed');
select probe.expect('sealed', (select outcome from largesse.archive_seal(probe.month(), '30 days', 'test', 'old')), 'sealed');
select probe.expect('not yet', largesse.archive_detached(probe.month(), 'test', 'old'), 'attached');
alter table largesse.usage detach partition largesse.usage_202602 concurrently;
select probe.expect('interrupted', (select string_agg(parent || ' ' || state, ', ') from largesse.archive_partitions(probe.month())), 'usage loose, claim attached');
select probe.expect('not yet', largesse.archive_detached(probe.month(), 'test', 'old'), 'attached');
alter table largesse.claim detach partition largesse.claim_202602 concurrently;
select probe.expect('detached', largesse.archive_detached(probe.month(), 'test', 'old'), 'detached');
select probe.expect('kept aside', (select string_agg(name || ' ' || state, ', ') from largesse.archive_partitions(probe.month())), 'largesse_archive.usage_202602 kept, largesse_archive.claim_202602 kept');
select probe.expect('gone from the table', (select count(*)::text from largesse.claim where activity_id < probe.id('summer')), '0');
select probe.expect('in the log', (select string_agg(action || ' ' || target || ' ' || reason, '; ' order by seq) from largesse.operator_log where action like 'partition.%'),
  'partition.attach 2026-02 wait; partition.detach 2026-02 old');

-- Meanwhile: audits, clicks, reads, callbacks, configuration, new activities.
select probe.expect('audits know of the event''s other claims', probe.findings(), 'none');
create function probe.told(i_sql text) returns text language plpgsql as $$
begin
  execute i_sql;
  return 'nothing';
exception when no_data_found or object_not_in_prerequisite_state then return sqlerrm;
end $$;
select probe.expect('an audit of it', probe.told('select largesse.audit_begin(''all'', null, ''spring'', false)'),
  'spring: the month 2026-02 is archived and detached; "reconciler archive attach 2026-02" brings its claims back');
select probe.expect('an audit of its day', (probe.told('select largesse.audit_begin(''date'', ''2026-02-10'', null, false)') like '2026-02-10 had activities of a month that is away%')::text, 'true');
select probe.expect('a replay', probe.claim('spring', 's1', 1, 2), 'REPLAYED succeeded');
select probe.expect('other content', probe.claim('spring', 's1', 1, 1), 'BIZ_ID_REUSED succeeded');
select probe.expect('a new click', probe.claim('spring', 's9', 9), 'ENDED');
select probe.expect('by its bizId', largesse.claim_get_by_biz('spring', 's2')::json ->> 'status', 'succeeded');
select probe.expect('by its id', largesse.claim_get(probe.id('spring'), (largesse.archive_claim(probe.id('spring'), null, 's1')).id)::json ->> 'bizId', 's1');
select probe.expect('none by that bizId', largesse.claim_get_by_biz('spring', 's3'), null);
select probe.expect('its list', (select string_agg(doc::json ->> 'bizId', ' ') from largesse.claim_list_by_activity('spring', null, 0, 10)), 's1 s2');
select probe.expect('a callback', (select a.verdict from largesse.callback_apply('wallet', 'e1', 'x', probe.id('spring'), 1, 'deliver', 'done', null, null, null, null, null, '{}', null, false) a), 'unmatched');
select probe.expect('its letter', (select d.detail from largesse.dead_letter d where d.cause = 'callback_unmatched'),
  'done of request id "x" in event e1; the month 2026-02 is archived and detached; "reconciler archive attach 2026-02" brings its claims back');
select probe.expect('a change of it', (select p.outcome from largesse.activity_put('{"code": "spring", "name": "other name", "kind": "registration", "timeZone": "UTC", "startAt": "2026-02-10T11:00:00Z", "endAt": "2026-02-10T13:00:00Z", "stock": {"total": 10}}', 'test', null) p), 'STATE_CONFLICT');
select probe.expect('a new one in that month', (select p.outcome || ' ' || p.detail from largesse.activity_put('{"code": "late", "name": "late", "kind": "registration", "timeZone": "UTC", "startAt": "2026-02-10T11:00:00Z", "endAt": "2026-02-20T13:00:00Z", "stock": {"total": 10}}', 'test', null) p),
  'INVALID_REQUEST endAt: the month is archived');
select probe.expect('no new partition', probe.told('select largesse.partitions_ensure(probe.month())'), 'the month of usage_202602 is archived');
select probe.expect('a message that comes again', (select count(*)::text from largesse.claim_take(array[probe.id('spring')], array[1::bigint], array[0], '5 s', '5 s', 'wallet')), '0');
select probe.expect('a move', (select count(*)::text from largesse.claim_move(array[probe.id('spring')], array[1::bigint], 'rolled_back', null, null, null)), '0');
select probe.expect('a cancel', (select coalesce((largesse.claim_held(probe.id('spring'), 1)).status, 'none')), 'none');
select probe.expect('a month is away', largesse.archive_months_away(), '2026-02');
select probe.expect('an export', probe.export('spring'), 'away: the month 2026-02 is archived and detached; "reconciler archive attach 2026-02" brings its claims back');
select probe.expect('the export can still be compared', (select is_there::text from largesse.archive_show(probe.id('spring'))), 'true');
select probe.expect('rows of the file', (probe.lines('spring', 'claim') ~ '"s1"')::text, 'true');

-- Brought back, also after the parent has got a column and lost a CHECK meanwhile.
alter table largesse.claim add column probe_note text check (probe_note <> ''), add column probe_count int not null default 7;
select probe.expect('a claim with a column more', (largesse.archive_claim(probe.id('spring'), null, 's1')).quantity::text, '2');
select probe.expect('attached', largesse.archive_attach(probe.month(), 'test', 'asked'), 'attached');
select probe.expect('again', largesse.archive_attach(probe.month(), 'test', 'asked'), 'unchanged');
select probe.expect('with what it has by default', (select string_agg(distinct probe_count::text, ',') from largesse.claim where activity_id = probe.id('spring')), '7');
alter table largesse.claim drop column probe_note, drop column probe_count;
select probe.expect('the same rows', (select count(*)::text from (
    select * from probe.before except select t, x from (select 'claim' as t, c::text as x from largesse.claim c union all select 'usage', u::text from largesse.usage u) n) d), '0');
select probe.expect('nothing is left of the seal', (select count(*)::text from pg_trigger where tgname like 'archive_is%'), '0');
select probe.expect('constraints as before', (select string_agg(distinct conname, ' ') from pg_constraint t where t.conrelid = 'largesse.claim_202602'::regclass and t.contype = 'c' and t.coninhcount = 0), null);
select probe.expect('clean', probe.findings(), 'none');
select probe.expect('still current', (select string_agg(doc::json ->> 'state', ' ') from largesse.archive_list('2026-02', 0, 10)), 'current current');
select probe.expect('damage is found again', (select string_agg(subject, ' ') from largesse.audit_run('stock_not_matching_claims', probe.id('spring'))), null);

-- Coupons that an order may still bring are not taken away; the rest of what is old may go.
select largesse.reward_put('ticket', 'wallet', 100, 'CNY', '{}');
update largesse.claim set reward_id = (select id from largesse.reward where code = 'ticket') where biz_id = 's1';
select largesse.discount_rule_put('{"id": "r1", "name": "n", "threshold": 0, "discount": {"amount": 5}, "priority": 1, "rewardCode": "ticket"}', 'test');
select probe.expect('coupons', probe.blockers(), 'spring 1 coupons of ticket may still be used: rule r1');
update largesse.discount_rule set end_at = largesse.clock_now() - interval '1 s';
select probe.expect('the rule has ended', probe.blockers(), 'none');
