-- SPDX-License-Identifier: Apache-2.0
-- A run of the audit: which activities it covers, how it is recorded step by step, how one that was interrupted goes on, who may do it.
create schema probe;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
create function probe.activity(i_code text, i_start interval, i_end interval) returns void language sql as $$
  select largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'registration', 'timeZone', 'UTC',
    'startAt', now() + i_start, 'endAt', now() + i_end, 'stock', '{"total": 5}'::jsonb), 'test', null);
  select largesse.activity_action(i_code, 'publish', 'test', null, null);
$$;
create function probe.scope(i_mode text, i_date date, i_code text) returns text language plpgsql as $$
declare v_run bigint := (select run_id from largesse.audit_begin(i_mode, i_date, i_code, false));
begin
  return (select string_agg(a.code, ' ' order by a.code) from largesse.audit_activities(v_run, 0, 100) a where a.is_in_scope);
end $$;
select probe.activity('now', '-1 hour', '1 hour'), probe.activity('coming', '2 hours', '3 hours');
-- Two that ended long ago: made now, and then moved back by hand; a claim of one of them was settled today.
select probe.activity('old', '-1 hour', '1 hour'), probe.activity('moved', '-1 hour', '1 hour');
select largesse.claim_submit(id, array['b1'], array[1::bigint], array[1], array[null::text], '5 s') from largesse.activity where code = 'moved';
update largesse.activity set start_at = '2020-05-01 10:00Z', end_at = '2020-05-01 11:00Z', latest_end_at = '2020-05-01 11:00Z' where code in ('old', 'moved');
update largesse.claim set created_at = '2020-05-01 10:30Z' where user_id = 1;

select probe.expect('the last day', probe.scope('recent', null, null), 'moved now');
select probe.expect('everything', probe.scope('all', null, null), 'coming moved now old');
select probe.expect('one of them', probe.scope('all', null, 'old'), 'old');
select probe.expect('a day', probe.scope('date', '2020-05-01', null), 'moved old');
select probe.expect('a day without', probe.scope('date', '2020-05-02', null), null);
update largesse.claim set updated_at = '2020-05-03 00:00Z' where user_id = 1;
select probe.expect('settled on another day', probe.scope('date', '2020-05-03', null), 'moved');
select probe.expect('not the day before', probe.scope('date', '2020-05-02', null), null);
select probe.expect('nothing of today', probe.scope('recent', null, null), 'now');
select probe.expect('one of a day', probe.scope('date', '2020-05-01', 'old'), 'old');
select probe.expect('day is half open', (select from_at || ' ' || until_at from largesse.audit_begin('date', '2020-05-01', null, false)),
  (select timestamptz '2020-05-01 00:00Z' || ' ' || timestamptz '2020-05-02 00:00Z'));
-- What belongs to no activity is looked at with one of them, also where nothing else has happened to that.
create function probe.on_day(i_date date) returns text language sql as $$
  select probe.scope('date', i_date, null)
$$;
insert into largesse.redemption (order_id, asked, answer, total, discount, payable, redeemed_by, redeemed_at)
  values ('o1', '{}', '{}', 100, 10, 90, 'test', '2020-05-09 10:00Z');
select probe.expect('an order, with the one that had started last', probe.on_day('2020-05-09'), 'moved');
select probe.expect('not the day after', probe.on_day('2020-05-10'), null);
delete from largesse.redemption;
select largesse.points_grant(77, 'g1', 5, 'gift', 'test');
update largesse.points_entry set at = '2020-05-11 10:00Z';
select probe.expect('points, with the newest', probe.on_day('2020-05-11'), (select code from largesse.activity order by id desc limit 1));
delete from largesse.points_entry;
delete from largesse.points_account;
do $$
begin
  perform largesse.audit_begin('all', null, 'nobody', false);
  raise exception 'an unknown activity was taken';
exception when no_data_found then null;
end $$;
-- Pages follow each other, also over what is out of scope.
create function probe.pages() returns text language plpgsql as $$
declare
  v_run   bigint := (select run_id from largesse.audit_begin('recent', null, null, false));
  v_after bigint := 0;
  v_page  record;
  v_all   text[];
begin
  loop
    select max(p.activity_id) as last, array_agg(p.code || p.is_in_scope order by p.activity_id) as items into v_page
      from largesse.audit_activities(v_run, v_after, 3) p;
    exit when v_page.last is null;
    v_all := v_all || v_page.items;
    v_after := v_page.last;
  end loop;
  return array_to_string(v_all, ' ');
end $$;
select probe.expect('pages', probe.pages(), (select string_agg(code || (code = 'now'), ' ' order by id) from largesse.activity));

-- The rest runs as the reconciler does.
delete from largesse.audit_run;
create temp table ids as select code, id, row_number() over (order by id) as n from largesse.activity;
grant select on ids to largesse_reconciler;
grant usage on schema probe to largesse_reconciler;
set role largesse_reconciler;
select probe.expect('five audits are declared', (select count(*) >= 5 from largesse.audit_list())::text, 'true');
select probe.expect('first run', (select is_resumed || ' ' || has_unfinished || ' ' || reached from largesse.audit_begin('all', null, null, true)), 'false false 0');
create function pg_temp.record(i_n int, i_kinds text[], i_failed bigint, i_subjects text[]) returns text language sql as $$
  select coalesce(string_agg(r.state || ' ' || r.kind, ', ' order by r.key), 'nothing')
    from largesse.audit_record((select max(id) from largesse.audit_runs(null, 1)), (select id from ids where n = i_n), i_kinds, i_failed,
      array(select 'stock_not_matching_claims:' || i_n || ':' || s from unnest(i_subjects) s), array_fill('stock_not_matching_claims'::text, array[cardinality(i_subjects)]),
      array_fill(null::bigint, array[cardinality(i_subjects)]), array_fill('e'::text, array[cardinality(i_subjects)]), array_fill('a'::text, array[cardinality(i_subjects)])) r
$$;
create function pg_temp.try_record(i_n int) returns text language plpgsql as $$
begin
  perform pg_temp.record(i_n, '{}', 0, '{}');
  return 'taken';
exception when object_not_in_prerequisite_state then return 'refused';
end $$;
select probe.expect('clean', pg_temp.record(1, array['stock_not_matching_claims'], 0, '{}'), 'nothing');
select probe.expect('found', pg_temp.record(2, array['stock_not_matching_claims'], 0, array['stock']), 'opened stock_not_matching_claims');
select probe.expect('passed already', pg_temp.try_record(2), 'refused');
-- Interrupted here; it goes on behind the second one and knows what it had found.
select probe.expect('goes on', (select is_resumed || ' ' || has_unfinished || ' ' || (reached = (select id from ids where n = 2)) from largesse.audit_begin('all', null, null, true)), 'true true true');
select probe.expect('what it had found', (select string_agg(state || ' ' || key, ',') from largesse.audit_recorded((select max(id) from largesse.audit_runs(null, 1)))),
  'opened stock_not_matching_claims:2:stock');
select probe.expect('an audit failed', pg_temp.record(3, '{}', 1, '{}'), 'nothing');
select probe.expect('end', (select activities || ' ' || failed from largesse.audit_end((select max(id) from largesse.audit_runs(null, 1)), 1)), '3 1');
select probe.expect('ended', pg_temp.try_record(4), 'refused');
select probe.expect('no success yet', (select count(*)::text from largesse.audit_figures() where figure = 'success'), '0');
-- Seen again, and then gone; and back.
select probe.expect('next run', (select is_resumed || ' ' || has_unfinished from largesse.audit_begin('all', null, null, true)), 'false false');
select probe.expect('open', pg_temp.record(2, array['stock_not_matching_claims'], 0, array['stock']), 'open stock_not_matching_claims');
select probe.expect('figures', (select amount::text from largesse.audit_figures() where label = 'stock_not_matching_claims'), '1');
select largesse.audit_end((select max(id) from largesse.audit_runs(null, 1)), 1);
select probe.expect('success', (select count(*)::text from largesse.audit_figures() where figure = 'success' and amount > 0), '1');
select largesse.audit_begin('all', null, null, false);
select probe.expect('not looked at, not gone', pg_temp.record(2, array['claim_outside_window'], 1, '{}'), 'nothing');
select largesse.audit_begin('all', null, null, false);
select probe.expect('gone', pg_temp.record(2, array['stock_not_matching_claims'], 0, '{}'), 'gone stock_not_matching_claims');
select probe.expect('none in the list', (select count(*)::text from largesse.finding_list(null, null, null, null, null, null, 'key', '', 10)), '0');
select probe.expect('but among all', (select string_agg(doc::json ->> 'state', ',') from largesse.finding_list('all', null, null, null, null, null, 'key', '', 10)), 'gone');
select largesse.audit_begin('all', null, null, false);
select probe.expect('back', pg_temp.record(2, array['stock_not_matching_claims'], 0, array['stock']), 'opened stock_not_matching_claims');
select probe.expect('filtered away', (select count(*)::text from largesse.finding_list(null, 'claim_outside_window', null, null, null, null, 'key', '', 10)), '0');
select probe.expect('shown', (select doc::json ->> 'state' from largesse.finding_show('stock_not_matching_claims:2:stock')), 'opened');
select probe.expect('runs', (select count(*)::text from largesse.audit_runs(null, 100)), '5');
do $$
begin
  update largesse.finding set state = 'gone';
  raise exception 'the role may write tables';
exception when insufficient_privilege then null;
end $$;
reset role;
-- One that was given up is no longer gone on with, nor told, after another has come to its end.
select largesse.audit_begin('date', '2020-06-01', null, false), largesse.audit_begin('date', '2020-06-02', null, false);
select probe.expect('given up', (select is_resumed || ' ' || has_unfinished from largesse.audit_begin('date', '2020-06-02', null, false)), 'false true');
select largesse.audit_end((select max(id) from largesse.audit_runs(null, 1)), 1);
select probe.expect('the later one ended', (select is_resumed || ' ' || has_unfinished from largesse.audit_begin('date', '2020-06-02', null, true)), 'false false');
select probe.expect('of another scope', (select is_resumed || ' ' || has_unfinished from largesse.audit_begin('date', '2020-06-01', null, true)), 'true true');
create function pg_temp.tomorrow() returns text language plpgsql as $$
begin
  perform largesse.audit_begin('date', (largesse.clock_now() at time zone 'UTC')::date + 1, null, false);
  return 'begun';
exception when no_data_found then return sqlerrm;
end $$;
select probe.expect('a date to come', (pg_temp.tomorrow() like '____-__-__ has not begun')::text, 'true');
