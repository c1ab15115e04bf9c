-- SPDX-License-Identifier: Apache-2.0
-- The views in the textbook's words: what each shows of activities of all kinds, and that a team's own reconciliation (sql/textbook) finds nothing on a clean system,
-- something on a damaged one, and looks at one month where it asks for one activity.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
\set stock `sed 's/;$//' sql/textbook/stock_without_record.sql`
\set limit `sed 's/;$//' sql/textbook/user_above_limit.sql`
\set qualification `sed 's/;$//' sql/textbook/qualification_not_matching.sql`
create view probe.stock as :stock;
create view probe.user_limit as :limit;
create view probe.qualification as :qualification;
create function probe.findings() returns text language sql as $$
  select coalesce(string_agg(f, '; ' order by f), 'none') from (
    select 'stock ' || s.activity_code from probe.stock s union all select 'limit ' || l.activity_code || ' ' || l.user_id from probe.user_limit l
    union all select 'qualification ' || q.activity_code || ' ' || q.user_id from probe.qualification q) t(f)
$$;
create procedure probe.damage(i_sql text, i_expected text) language plpgsql as $$
declare v_found text;
begin
  begin
    execute i_sql;
    v_found := probe.findings();
    raise exception 'undo' using errcode = 'P0099';
  exception when sqlstate 'P0099' then null;
  end;
  perform probe.expect(i_sql, v_found, i_expected);
end $$;

select largesse.reward_put('voucher', 'wallet', 100, 'CNY', '{}');
insert into largesse.event (code, name, time_zone, created_at, updated_at) values ('fair', 'fair', 'UTC', now(), now());
create function probe.activity(i_code text, i_kind text, i_more jsonb) returns void language plpgsql as $$
declare v_put record;
begin
  select * into v_put from largesse.activity_put(jsonb_build_object('code', i_code, 'name', 'Name of ' || i_code, 'kind', i_kind, 'timeZone', 'UTC',
    'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day') || i_more, 'test', null);
  perform probe.expect('put of ' || i_code, v_put.outcome || coalesce(v_put.detail, ''), 'created');
  if i_kind = 'number' then perform largesse.numbers_add(i_code, null, 1, 20, 'test'); end if;
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
end $$;
select probe.activity('split', 'reward', '{"rewardCode": "voucher", "stock": {"total": 21, "segments": 3}, "limits": [{"count": 5, "period": "total"}]}');
select probe.activity('endless', 'reward', '{"rewardCode": "voucher", "stock": {"total": null}, "limits": []}');
select probe.activity('places', 'registration', '{"stock": {"total": 3}, "limits": [], "waitingList": {"max": 5, "acceptWithin": "1h"}, "needsQualification": true}');
select probe.activity('lots', 'number', '{"price": {"amount": 500, "currency": "CNY"}, "paymentProvider": "bank", "limits": [{"count": 5, "period": "total"}]}');
select probe.activity('swap', 'exchange', '{"rewardCode": "voucher", "pointsCost": 10, "stock": {"total": 4}, "limits": [{"count": 1, "period": "day"}], "eventCode": "fair"}');
select probe.activity('draft', 'reward', '{"rewardCode": "voucher", "stock": {"total": 2}}');
update largesse.activity set status = 'draft' where code = 'draft';
select largesse.qualification_import('places', array[1, 2, 3, 4]::bigint[], array['crm', 'crm', 'crm', 'crm'], array[null, null, null, null]::text[], array['{"tier": 1}', null, null, null]);
select largesse.points_grant(u, 'g' || u, 100, 'test', 'test') from generate_series(1, 3) u;

create function probe.submit(i_code text, i_biz text, i_user bigint, i_quantity int, i_numbers bigint[] default null) returns text language sql as $$
  select string_agg(s.verdict || coalesce(' ' || s.status, ''), ',') from largesse.activity a, largesse.claim_submit(a.id, array[i_biz], array[i_user], array[i_quantity], array[null::text], '5 s',
    (select array_agg(1) from unnest(i_numbers)), i_numbers, null, case when a.segments > 1 then 1 end) s where a.code = i_code and s.ord = 1
$$;
create procedure probe.move(i_code text, i_biz text, i_to text, i_failure text default null) language plpgsql as $$
begin
  perform 1 from largesse.claim c join largesse.activity a on a.id = c.activity_id and a.code = i_code
    cross join lateral largesse.claim_move(array[c.activity_id], array[c.id], i_to, null, array[i_failure], array[case when i_failure is not null then 'told so' end])
   where c.biz_id = i_biz;
  if not found then raise exception '% of % did not move to %', i_biz, i_code, i_to; end if;
end $$;
select probe.expect('five vouchers', probe.submit('split', 's1', 1, 5), 'ACCEPTED issuing');
select probe.expect('three more', probe.submit('split', 's2', 2, 3), 'ACCEPTED issuing');
select probe.expect('two that fail', probe.submit('split', 's3', 3, 2), 'ACCEPTED issuing');
select probe.expect('one that is taken back', probe.submit('split', 's4', 4, 1), 'ACCEPTED issuing');
select probe.expect('endless', probe.submit('endless', 'e1', 1, 4), 'ACCEPTED issuing');
select probe.expect('places', probe.submit('places', 'p' || n, n, 1), e) from (values (1, 'ACCEPTED succeeded'), (2, 'ACCEPTED succeeded'), (3, 'ACCEPTED succeeded'), (4, 'ACCEPTED waiting')) v(n, e);
select probe.expect('numbers', probe.submit('lots', 'n1', 1, 2, '{3,4}'), 'ACCEPTED held');
select probe.expect('points', probe.submit('swap', 'x' || n, n, 1), 'ACCEPTED issuing') from generate_series(1, 2) n;
call probe.move('split', 's1', 'succeeded');
call probe.move('split', 's3', 'failed', 'NO_ACCOUNT');
call probe.move('split', 's4', 'rolled_back');
call probe.move('swap', 'x1', 'succeeded');
call probe.move('lots', 'n1', 'cancelled');
select probe.expect('adjusted', (select d.outcome || ' ' || d.total from largesse.stock_adjust('split', 'k1', 4, 'more', 'test') d), 'ok 25');
select probe.expect('paused', (select outcome from largesse.activity_action('swap', 'pause', 'test', 'why', null)), 'ok');
select probe.expect('advanced', (select count(*)::text from largesse.activity where status = 'published'), '4');
update largesse.activity set status = 'ongoing' where status = 'published';

-- What each view shows.
select probe.expect('columns', (select string_agg(c.table_name || '(' || c.columns || ')', ' ' order by c.table_name)
    from (select table_name, string_agg(column_name, ', ' order by ordinal_position) as columns from information_schema.columns where table_schema = 'compat' group by 1) c),
  'activity(activity_code, activity_name, start_time, end_time, status, limit_per_user, need_qualification, total_inventory) activity_inventory(activity_code, remain_count, version) '
  'activity_qualification(activity_code, user_id, status, source, ext_info) user_receive_record(biz_id, activity_code, user_id, reward_code, receive_time, status, fail_reason)');
select probe.expect('activities', (select string_agg(concat_ws(' ', activity_code, status, coalesce(limit_per_user::text, '-'), need_qualification, coalesce(total_inventory::text, '-')), '; ' order by activity_code) from compat.activity),
  'draft 0 1 0 2; endless 1 - 0 -; lots 1 5 0 20; places 1 - 1 3; split 1 5 0 25; swap 3 - 0 4');
select probe.expect('stock', (select string_agg(activity_code || ' ' || coalesce(remain_count::text, '-'), '; ' order by activity_code) from compat.activity_inventory),
  'draft 2; endless -; lots 20; places 0; split 17; swap 2');
select probe.expect('records', (select string_agg(concat_ws(' ', biz_id, user_id, status, fail_reason), '; ' order by biz_id) from compat.user_receive_record where activity_code in ('split', 'lots')),
  'n1 1 3 cancelled; n1#2 1 3 cancelled; s1 1 1; s1#2 1 1; s1#3 1 1; s1#4 1 1; s1#5 1 1; s2 2 0; s2#2 2 0; s2#3 2 0; s3 3 2 NO_ACCOUNT: told so; s3#2 3 2 NO_ACCOUNT: told so; s4 4 3 rolled_back');
select probe.expect('who waits has nothing', (select string_agg(biz_id, ' ' order by biz_id) from compat.user_receive_record where activity_code = 'places'), 'p1 p2 p3');
select probe.expect('qualifications', (select string_agg(concat_ws(' ', user_id, status, source, ext_info), '; ' order by user_id) from compat.activity_qualification), '1 1 crm {"tier": 1}; 2 1 crm; 3 1 crm; 4 0 crm');
select probe.expect('rewards', (select string_agg(distinct activity_code || ' ' || coalesce(reward_code, '-'), '; ' order by activity_code || ' ' || coalesce(reward_code, '-')) from compat.user_receive_record), 'endless voucher; lots -; places -; split voucher; swap voucher');
select probe.expect('a record is there once', (select count(*)::text from (select activity_code, biz_id from compat.user_receive_record group by 1, 2 having count(*) > 1) d), '0');
create temp table version as select version from compat.activity_inventory where activity_code = 'split';
select probe.submit('split', 's9', 9, 1);
select probe.expect('the version grows with a claim', (select (i.version > v.version)::text from compat.activity_inventory i, version v where i.activity_code = 'split'), 'true');

-- A clean system, and a damaged one.
select probe.expect('clean', probe.findings(), 'none');
call probe.damage('update largesse.stock set remaining = remaining - 1 where segment = 2', 'stock split');
call probe.damage('delete from largesse.claim where biz_id = ''s1''', 'stock split');
call probe.damage('update largesse.claim set quantity = 6 where biz_id = ''s1''', 'limit split 1; stock split');
call probe.damage('update largesse.claim set status = ''succeeded'', deadline = null where biz_id = ''n1''', 'stock lots');
call probe.damage('update largesse.stock_adjustment set by = 5', 'stock split');
call probe.damage('update largesse.qualification set claim_id = null where user_id = 2', 'qualification places 2');
call probe.damage('delete from largesse.claim where biz_id = ''p3''', 'qualification places 3; stock places');

-- One activity is one month: the others are not looked at, once there is so much there that it would matter.
select largesse.partitions_ensure(m) from generate_series(600, 604) m;
insert into largesse.claim (activity_id, user_id, created_at, updated_at, quantity, biz_id, status)
  select m * 1000000::bigint + 1 + n % 5, n, now(), now(), 1, 'm' || n, 'succeeded' from generate_series(600, 604) m, generate_series(1, 3000) n;
analyze largesse.activity, largesse.claim;
create function probe.scanned(i_sql text) returns text language plpgsql as $$
declare v_plan json;
begin
  execute 'explain (analyze, format json, costs off, timing off, summary off) ' || i_sql into v_plan;
  return (with recursive node(doc) as (select v_plan -> 0 -> 'Plan' union all select p from node, json_array_elements(node.doc -> 'Plans') p)
    select string_agg(distinct doc ->> 'Relation Name', ' ') from node where doc ->> 'Relation Name' like 'claim\_%' and (doc ->> 'Actual Loops')::int > 0 and doc ->> 'Node Type' <> 'Bitmap Index Scan');
end $$;
select probe.expect('only its month is read', probe.scanned($$select * from compat.user_receive_record where activity_code = 'split'$$), 'claim_' || to_char((now() + interval '1 day') at time zone 'UTC', 'YYYYMM'));
select probe.expect('also by user', probe.scanned($$select * from compat.user_receive_record where activity_code = 'split' and user_id = 2$$), 'claim_' || to_char((now() + interval '1 day') at time zone 'UTC', 'YYYYMM'));

-- The role reads these and nothing else.
set role largesse_compat;
select count(*) from compat.activity union all select count(*) from compat.activity_qualification union all select count(*) from compat.user_receive_record union all select count(*) from compat.activity_inventory;
reset role;
create function probe.denied(i_sql text) returns text language plpgsql as $$
begin
  execute i_sql;
  return 'allowed';
exception when insufficient_privilege or object_not_in_prerequisite_state then return 'denied';
end $$;
grant usage on schema probe to largesse_compat;
grant execute on function probe.denied(text), probe.expect(text, text, text) to largesse_compat;
set role largesse_compat;
select probe.expect(s, probe.denied(s), 'denied') from unnest(array['select count(*) from largesse.claim', 'delete from compat.activity_qualification', 'update compat.activity set activity_name = ''x''', 'create table compat.x (i int)']) s;
