-- SPDX-License-Identifier: Apache-2.0
-- Repairs: one row is damaged, the audit finds it, the preview tells what would change and changes nothing, the repair mends it, the audit is clean, and doing it again
-- does nothing. Claims that are made or given back meanwhile do not make it wrong. What people were promised is not touched.
create extension dblink;
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}'), largesse.event_put('fest', 'Festival', 'UTC');
insert into largesse.provider_state (provider, configured_concurrency, configured_rate, can_reverse, can_inquire, repeat_is_safe, changed_at)
  values ('simulator', 1, 0, true, true, false, now());
create function probe.make(i_code text, i_doc jsonb) returns void language plpgsql as $$
declare v record;
begin
  select * into v from largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
    'startAt', now() - interval '10 days', 'endAt', now() + interval '1 day', 'stock', '{"total": 50}'::jsonb, 'limits', '[]'::jsonb) || i_doc, 'test', null);
  if v.outcome <> 'created' then raise exception '%: % %', i_code, v.outcome, v.detail; end if;
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
end $$;
create function probe.claim(i_code text, i_user bigint, i_numbers bigint[] default null, i_quantity int default 1) returns text language sql as $$
  select s.verdict from largesse.activity a cross join lateral
    largesse.claim_submit(a.id, array['b' || i_user], array[i_user], array[coalesce(cardinality(i_numbers), i_quantity)], array[null::text], '5 s',
                          case when i_numbers is not null then array_fill(1, array[cardinality(i_numbers)]) end, i_numbers) s where a.code = i_code and s.ord = 1
$$;
create function probe.move(i_user bigint, i_to text) returns bigint language sql as $$
  select count(*) from largesse.claim c cross join lateral largesse.claim_move(array[c.activity_id], array[c.id], i_to, null, null, null) where c.user_id = i_user
$$;
create function probe.accepted(i_code text, i_users bigint[], i_expected text default 'ACCEPTED') returns void language plpgsql as $$
begin
  perform probe.expect(i_code || ' ' || u, probe.claim(i_code, u), i_expected) from unnest(i_users) u;
end $$;

-- Everything that repairs may touch, for "nothing changed".
create function probe.books() returns text language sql as $$
  select md5(concat_ws('|',
    (select string_agg(t::text, ',' order by t::text) from largesse.claim t), (select string_agg(t::text, ',' order by t::text) from largesse.stock t),
    (select string_agg(t::text, ',' order by t::text) from largesse.usage t), (select string_agg(t::text, ',' order by t::text) from largesse.event_usage t),
    (select string_agg(t::text, ',' order by t::text) from largesse.group_member t), (select string_agg(t::text, ',' order by t::text) from largesse.qualification t),
    (select string_agg(t::text, ',' order by t::text) from largesse.activity_number t), (select string_agg(t::text, ',' order by t::text) from largesse.waiting_entry t),
    (select string_agg(t::text, ',' order by t::text) from largesse.points_account t), (select string_agg(t::text, ',' order by t::text) from largesse.points_entry t),
    (select string_agg(t::text, ',' order by t::text) from largesse.dead_letter t), (select string_agg(t::text, ',' order by t::text) from largesse.finding t),
    (select count(*) from largesse.operation), (select count(*) from largesse.operator_log), (select count(*) from largesse.event_out)))
$$;
-- As a night does, of some activities and audits only if they are named. Result: what was found, by activity.
create function probe.audit(i_codes text[] default null, i_kinds text[] default null) returns text language plpgsql as $$
begin
  perform (select count(*) from largesse.finding_record(array[a.id], array_agg(distinct d.name), coalesce(array_agg(format('%s:%s:%s', d.name, a.id, r.subject)) filter (where r.subject is not null), '{}'),
      coalesce(array_agg(d.name) filter (where r.subject is not null), '{}'), coalesce(array_agg(a.id) filter (where r.subject is not null), '{}'),
      coalesce(array_agg(r.claim_id) filter (where r.subject is not null), '{}'), coalesce(array_agg(r.expected) filter (where r.subject is not null), '{}'),
      coalesce(array_agg(r.actual) filter (where r.subject is not null), '{}')))
     from largesse.activity a cross join largesse.audit_definition d left join lateral largesse.audit_run(d.name, a.id) r on true 
    where d.source = 'audit' and (i_codes is null or a.code = any (i_codes)) and (i_kinds is null or d.name = any (i_kinds)) group by a.id;
  return (select coalesce(string_agg(a.code || ' ' || f.kind, ', ' order by a.code, f.kind), 'clean')
            from largesse.finding f join largesse.activity a on a.id = f.activity_id where f.state <> 'gone');
end $$;
-- An operation over all findings, to its end. Result: its counts.
create function probe.operate(i_kind text, i_key text default null, i_keys text[] default null) returns text language plpgsql as $$
declare
  v_begun record;
begin
  select * into v_begun from largesse.operation_begin(i_kind, null, null, null, null, null, null, null, 'ann', 'was damaged', null, true, 10000, i_key, i_keys => i_keys);
  while (select o.state from largesse.operation o where o.id = v_begun.operation_id) = 'running' loop
    perform largesse.operation_step(v_begun.operation_id, 100);
    update largesse.operation set next_at = largesse.clock_now(), paid_until = largesse.clock_now() where id = v_begun.operation_id;
  end loop;
  set constraints all immediate;  -- the operator log is written at the end of a transaction
  set constraints all deferred;
  return (select concat_ws(' ', v_begun.verdict, (select string_agg(c.key || '=' || c.value, ' ' order by c.key) from jsonb_each_text(o.counts) c))
            from largesse.operation o where o.id = v_begun.operation_id);
end $$;
create function probe.preview(i_kind text) returns jsonb language sql as $$
  select p.doc::jsonb from largesse.operation_preview(i_kind, null, null, null, null, null, null, null, false) p
$$;
-- i_found: what the audit finds; i_counts: what the repair of all comes to, where that is more than "all repaired".
create procedure probe.mends(i_damage text, i_found text, i_counts text default null) language plpgsql as $$
declare
  v_n       int := cardinality(string_to_array(i_found, ', '));
  v_counts  text := coalesce(i_counts, 'repaired=' || v_n);
  v_logged  bigint := (select count(*) from largesse.operator_log);
  v_preview jsonb;
  v_books   text;
  v_keys    text[];
  v_codes   text[] := array(select distinct split_part(f, ' ', 1) from unnest(string_to_array(i_found, ', ')) f);
  v_kinds   text[] := array(select distinct split_part(f, ' ', 2) from unnest(string_to_array(i_found, ', ')) f);
begin
  execute i_damage;
  perform probe.expect('found after ' || i_damage, probe.audit(v_codes), i_found);
  v_books := probe.books();
  v_preview := probe.preview('repair');
  perform probe.expect('the preview changes nothing: ' || i_damage, probe.books(), v_books);
  perform probe.expect('previewed', v_preview ->> 'total', v_n::text);
  if exists (select from jsonb_array_elements(v_preview -> 'items') i where i ->> 'outcome' = 'repaired' and (i ->> 'before' is null or i ->> 'after' is null or i ->> 'before' = i ->> 'after')) then
    raise exception 'a preview does not say what would change: %', v_preview;
  end if;
  v_keys := array(select f.key from largesse.finding f where f.state <> 'gone' order by 1);
  perform probe.expect('repaired after ' || i_damage || ': ' || v_preview::text, probe.operate('repair', md5(i_damage)), 'created ' || v_counts);
  -- What one repair puts right for another is told as it is then.
  perform probe.expect('as previewed', (select string_agg(concat_ws(' ', i.finding_key, i.before, '->', i.after), ', ' order by i.finding_key) from largesse.operation_item i
                                         where i.operation_id = (select max(id) from largesse.operation) and i.outcome = 'repaired'),
                       (select string_agg(concat_ws(' ', p ->> 'key', p ->> 'before', '->', p ->> 'after'), ', ' order by p ->> 'key') from jsonb_array_elements(v_preview -> 'items') p
                         where (select i.outcome from largesse.operation_item i where i.operation_id = (select max(id) from largesse.operation) and i.finding_key = p ->> 'key') = 'repaired'));
  perform probe.expect('logged', (select count(*)::text from largesse.operator_log l where l.seq > v_logged and l.action = 'finding.repaired' and l.reason = 'was damaged' and l.target = any (v_keys)),
                       coalesce(substring(v_counts from 'repaired=([0-9]+)'), '0'));
  perform probe.expect('gone after ' || i_damage, (select count(*)::text from largesse.finding f where f.state <> 'gone'), '0');
  perform probe.expect('clean after ' || i_damage, probe.audit(v_codes, v_kinds), 'clean');
  v_books := probe.books();
  perform probe.expect('the same key again', probe.operate('repair', md5(i_damage)), 'replayed ' || v_counts);
  perform probe.expect('a replay does nothing', probe.books(), v_books);
  perform probe.expect('once more', probe.operate('repair', null, v_keys), 'created gone=' || v_n);
end $$;

-- Books of all kinds. 1 and 2 have vouchers of everything at once; 3 came to nothing.
select probe.make('full', '{"eventCode": "fest", "exclusiveGroup": "mall", "needsQualification": true,
  "limits": [{"count": 2, "period": "total"}, {"count": 2, "period": "day"}, {"count": 2, "period": "event"}]}');
select probe.make('other', '{"eventCode": "fest", "exclusiveGroup": "mall", "limits": [{"count": 2, "period": "event"}]}');
select largesse.qualification_import('full', '{1, 2, 3, 4, 5, 6, 7}', null, null, null);
select probe.accepted('full', '{1, 2, 3}'), probe.move(3, 'failed'), probe.accepted('other', '{3}');
select probe.make('seg', '{"stock": {"total": 50, "segments": 4}, "limits": [{"count": 3, "period": "total"}]}'), probe.make('endless', '{"stock": {"total": null}}');
select probe.accepted('seg', '{11, 12, 13}'), probe.accepted('endless', '{14, 15}');
select probe.make('lottery', '{"kind": "number", "stock": {"total": null}, "price": {"amount": 500, "currency": "CNY"}, "paymentProvider": "simulator"}');
select largesse.numbers_add('lottery', null, 1, 100, 'test');
select probe.claim('lottery', 21, '{7, 8}'), probe.claim('lottery', 22, '{9}'), probe.claim('lottery', 23, '{10}'), probe.move(23, 'expired');
select probe.make('exchange', '{"kind": "exchange", "pointsCost": 100}');
select largesse.points_grant(u, 'g', 500, 'x', 'test') from generate_series(31, 34) u;
select probe.accepted('exchange', '{31, 32}'), probe.move(32, 'failed');
select probe.make('list', '{"kind": "registration", "stock": {"total": 2}, "waitingList": {"max": 50}}');
select probe.accepted('list', '{41, 42, 43, 44, 45}');
update largesse.claim set next_attempt_at = now() + interval '1 hour' where next_attempt_at is not null;
select probe.expect('the books are right', probe.audit(), 'clean'), probe.expect('nothing to repair', probe.operate('repair'), 'created');

-- Stock: what claims say, whatever the row said. The finding names its cause.
call probe.mends('update largesse.stock set remaining = remaining - 3 where activity_id = (select id from largesse.activity where code = ''full'')', 'full stock_not_matching_claims');
call probe.mends('update largesse.stock set remaining = remaining - 1, taken = taken + 1 where activity_id = (select id from largesse.activity where code = ''full'')', 'full stock_not_matching_claims');
call probe.mends('update largesse.stock set remaining = 0, taken = 7 where activity_id = (select id from largesse.activity where code = ''seg'') and segment = 2', 'seg stock_not_matching_claims');
call probe.mends('delete from largesse.stock where activity_id in (select id from largesse.activity where code in (''seg'', ''full''))', 'full stock_not_matching_claims, seg stock_not_matching_claims');
call probe.mends('delete from largesse.stock where activity_id = (select id from largesse.activity where code = ''seg'') and segment = 2', 'seg stock_not_matching_claims, seg stock_segment_wrong', 'already_right=1 repaired=1');
call probe.mends('insert into largesse.stock (activity_id, segment, remaining) select id, 9, 5 from largesse.activity where code = ''full''', 'full stock_not_matching_claims, full stock_segment_wrong', 'already_right=1 repaired=1');
call probe.mends('insert into largesse.stock (activity_id, segment, remaining) select id, 9, 0 from largesse.activity where code = ''full''', 'full stock_segment_wrong');
call probe.mends('update largesse.stock set taken = 0 where activity_id = (select id from largesse.activity where code = ''endless'')', 'endless stock_not_matching_claims');
select probe.expect('schedulers hear of it', (select string_agg(a.code, ' ' order by a.code) from largesse.activity_cache(now() - interval '1 minute') c join largesse.activity a on a.id = c.id
                                              where a.changed_at > (select min(o.created_at) from largesse.operation o)), 'endless full seg');
select probe.expect('segments', (select count(*) || ' ' || sum(remaining) || ' ' || sum(taken) || ' ' || max(remaining) - min(remaining) from largesse.stock s join largesse.activity a on a.id = s.activity_id where a.code = 'seg'), '4 47 3 1');
create function probe.cause(i_damage text) returns text language plpgsql as $$
declare v text;
begin
  begin
    execute i_damage;
    perform probe.audit('{full}');
    select largesse.finding_json(f)::json ->> 'cause' into v from largesse.finding f where f.state <> 'gone';
    raise exception 'undo' using errcode = 'P0099';
  exception when sqlstate 'P0099' then null;
  end;
  return split_part(v, ':', 1);
end $$;
select probe.expect('without a record', probe.cause('update largesse.stock set remaining = remaining - 1, taken = taken + 1 where activity_id = (select id from largesse.activity where code = ''full'')'), 'stock was taken without a record'),
       probe.expect('without stock', probe.cause('update largesse.stock set remaining = remaining + 1, taken = taken - 1 where activity_id = (select id from largesse.activity where code = ''full'')'), 'a record was made without taking stock'),
       probe.expect('wrong from the beginning', probe.cause('update largesse.stock set remaining = remaining + 5 where activity_id = (select id from largesse.activity where code = ''full'')'), 'the initial stock was set wrongly, or what is left was changed by hand'),
       probe.expect('the counter alone', probe.cause('update largesse.stock set taken = taken + 5 where activity_id = (select id from largesse.activity where code = ''full'')'), 'the initial stock was set wrongly, or what is left was changed by hand');
-- More was given than there is: a person takes back, or adds.
create procedure probe.is_for_people(i_damage text, i_kind text, i_says text) language plpgsql as $$
declare v_books text; v_item jsonb;
begin
  begin
    execute i_damage;
    perform probe.audit(null, array[i_kind]);
    v_books := (select string_agg(t::text, ',') from largesse.stock t) || (select string_agg(t::text, ',') from largesse.claim t) || (select string_agg(t::text, ',') from largesse.points_account t);
    perform probe.expect('left alone after ' || i_damage, probe.operate('repair'), 'created not_repairable=' || (select count(*) from largesse.finding f where f.state <> 'gone'));
    perform probe.expect('nothing is changed', (select string_agg(t::text, ',') from largesse.stock t) || (select string_agg(t::text, ',') from largesse.claim t) || (select string_agg(t::text, ',') from largesse.points_account t), v_books);
    perform probe.expect('still open', (select count(*) > 0 from largesse.finding f where f.state <> 'gone')::text, 'true');
    if not exists (select from largesse.operation_item i where coalesce(i.after, i.before) like i_says) then
      raise exception 'says %', (select string_agg(concat_ws(' -> ', i.before, i.after), ', ') from largesse.operation_item i where i.operation_id = (select max(id) from largesse.operation));
    end if;
    raise exception 'undo' using errcode = 'P0099';
  exception when sqlstate 'P0099' then null;
  end;
end $$;
call probe.is_for_people('update largesse.activity set stock_total = 1 where code = ''seg''; update largesse.activity_history set stock_total = 1 where activity_id = (select id from largesse.activity where code = ''seg'') and stock_total is not null', 'stock_not_matching_claims', 'claims hold 2 more than there is');
call probe.is_for_people('update largesse.claim set created_at = now() - interval ''20 days'' where user_id = 14', 'claim_outside_window', 'a person has to: see the next step');
-- A counter does not follow claims above every limit: it would say that the limit had been higher, and user_over_limit were silent.
call probe.is_for_people('update largesse.claim set quantity = 4 where user_id = 13', 'usage_not_matching_claims', 'claims hold 1 more than the limit allows');
call probe.is_for_people('update largesse.claim set quantity = 4 where user_id = 13', 'user_over_limit', 'a person has to: see the next step');
call probe.is_for_people('update largesse.claim set quantity = 9 where user_id = 1', 'event_usage_not_matching_claims', 'claims hold % more than the limit allows');

-- A total that was changed by hand, and a row that has some more: both become what the published one says, so that nobody gets what there is not.
call probe.mends('update largesse.activity set stock_total = stock_total - 20 where code = ''seg''', 'seg stock_initial_wrong');
call probe.mends('update largesse.activity set stock_total = null where code = ''seg''', 'seg stock_initial_wrong');
do $$
declare v_id bigint := (select id from largesse.activity where code = 'full'); v_left bigint := (select sum(remaining) from largesse.stock where activity_id = (select id from largesse.activity where code = 'full'));
begin
  update largesse.activity set stock_total = stock_total + 20 where id = v_id;
  update largesse.stock set remaining = remaining + 7 where activity_id = v_id and segment = 0;
  perform probe.expect('both are found', probe.audit('{full}'), 'full stock_initial_wrong, full stock_not_matching_claims');
  perform probe.expect('so are repaired', probe.operate('repair'), 'created repaired=2');
  perform probe.expect('as published', (select sum(remaining)::text from largesse.stock where activity_id = v_id), v_left::text);
  perform probe.expect('both of them', (select stock_total::text from largesse.activity where id = v_id) || ' ' || probe.audit('{full}'), '50 clean');
  raise exception 'undo' using errcode = 'P0099';
exception when sqlstate 'P0099' then null;
end $$;

select probe.expect('all books', probe.audit(), 'clean');

-- Counters of users.
call probe.mends('update largesse.usage set used = 2 where user_id = 1 and period = ''day''', 'full usage_not_matching_claims');
call probe.mends('delete from largesse.usage where user_id = 2', 'full usage_not_matching_claims, full usage_not_matching_claims');
call probe.mends('update largesse.usage set used = 3, max_used = 3 where user_id = 11; update largesse.usage set used = 0 where user_id = 12', 'seg usage_not_matching_claims, seg usage_not_matching_claims');
call probe.mends('update largesse.event_usage set used = 0 where user_id = 1', 'full event_usage_not_matching_claims');
call probe.mends('delete from largesse.event_usage where user_id = 3', 'other event_usage_not_matching_claims');
call probe.mends('insert into largesse.event_usage values (''fest'', 99, 1, 2)', 'other event_usage_not_matching_claims');
-- A user over the limit keeps what was given, and gets no more.
update largesse.activity_limit set max_count = 4 where activity_id = (select id from largesse.activity where code = 'seg');
call probe.mends('update largesse.claim set quantity = 4 where user_id = 13; update largesse.stock set remaining = remaining - 3, taken = taken + 3 where activity_id = (select id from largesse.activity where code = ''seg'') and segment = 0',
                 'seg usage_not_matching_claims');
select largesse.activity_limits_replace(id, '[{"count": 3, "period": "total"}]') from largesse.activity where code = 'seg';
select probe.expect('no more', probe.claim('seg', 13), 'BIZ_ID_REUSED');
update largesse.claim set biz_id = 'c13' where user_id = 13;
select probe.expect('no more', probe.claim('seg', 13), 'LIMIT_REACHED');

-- Groups and qualifications.
call probe.mends('delete from largesse.group_member where user_id = 1', 'full group_member_not_matching_claims');
call probe.mends('update largesse.group_member set live = 0 where user_id = 1', 'full group_member_not_matching_claims');
call probe.mends('update largesse.group_member set live = 2 where user_id = 3', 'other group_member_not_matching_claims');
call probe.mends('update largesse.group_member set activity_id = (select id from largesse.activity where code = ''other'') where user_id = 2',
                 'full group_member_not_matching_claims, other group_member_not_matching_claims', 'already_right=1 repaired=1');
call probe.mends('update largesse.qualification set claim_id = null where user_id = 1', 'full qualification_not_matching_claims');
call probe.mends('update largesse.qualification set claim_id = (select id from largesse.claim where user_id = 1) where user_id = 7', 'full qualification_not_matching_claims');
call probe.mends('update largesse.qualification set claim_id = 5 where user_id = 1', 'full qualification_not_matching_claims, full qualification_not_matching_claims', 'already_right=1 repaired=1');
call probe.is_for_people('delete from largesse.qualification where user_id = 2', 'qualification_not_matching_claims', '%not on the list');

-- Numbers.
call probe.mends('update largesse.activity_number set status = ''sold'' where number = 7', 'lottery number_not_matching_claims');
call probe.mends('update largesse.activity_number set status = ''available'', claim_id = null where number = 9', 'lottery number_not_matching_claims');
call probe.mends('update largesse.activity_number set status = ''sold'', claim_id = (select id from largesse.claim where user_id = 23) where number = 10', 'lottery number_not_matching_claims');
call probe.mends('update largesse.activity_number set claim_id = (select id from largesse.claim where user_id = 21) where number = 9',
                 'lottery number_not_matching_claims, lottery number_not_matching_claims', 'already_right=1 repaired=1');
call probe.is_for_people('delete from largesse.activity_number where number = 9', 'number_not_matching_claims', 'claim % holds a number that is not in the set');
call probe.is_for_people('update largesse.claim set numbers = ''{7, 8, 9}'' where user_id = 21', 'number_not_matching_claims', 'claims % hold the same number');
call probe.is_for_people('update largesse.claim set numbers = null where user_id = 21', 'number_not_matching_claims', 'claim % is live and has lost its numbers: put them back into the claim, or roll it back');

-- Points. The balance that the user sees is right before and after.
call probe.mends('update largesse.points_account set balance = balance + 1 where user_id = 31', 'exchange points_not_matching_ledger');
call probe.mends('delete from largesse.points_account where user_id = 34', 'exchange points_not_matching_ledger');
call probe.mends('with gone as (delete from largesse.points_entry where user_id = 32 and key like ''return/%'') update largesse.points_account set balance = 400 where user_id = 32',
                 'exchange points_not_matching_claims');
call probe.mends('delete from largesse.points_entry where user_id = 32 and key like ''return/%''', 'exchange points_not_matching_claims, exchange points_not_matching_ledger', 'already_right=1 repaired=1');
select probe.expect('balances', (select string_agg(balance::text, ' ' order by user_id) from largesse.points_account), '400 500 500 500');
call probe.is_for_people('update largesse.points_entry set amount = 50 where user_id = 33', 'points_not_matching_ledger', 'entries sum to 50, the last one says 500');
call probe.is_for_people('delete from largesse.points_entry where user_id = 31 and key like ''claim/%''', 'points_not_matching_claims', 'the entries are not those of a claim of 100 points that is issuing');
call probe.is_for_people('with gone as (delete from largesse.points_entry where user_id = 32 and key like ''return/%'') update largesse.points_account set balance = 444 where user_id = 32',
                         'points_not_matching_ledger', 'the entries of claim % are not what it cost: see to that first');

-- Waiting lists: whoever was lost stands where he stood.
call probe.mends('delete from largesse.waiting_entry where user_id = 44', 'list waiting_list_not_matching_claims, list waiting_list_not_matching_claims', 'already_right=1 repaired=1');
select probe.expect('in the old order', (select string_agg(user_id::text, ' ' order by position) from largesse.waiting_entry), '43 44 45');
call probe.mends('update largesse.stock set waiting = 9 where segment = 0 and activity_id = (select id from largesse.activity where code = ''list'')', 'list waiting_list_not_matching_claims');
call probe.mends('update largesse.waiting_entry set quantity = 2 where user_id = 45', 'list waiting_list_not_matching_claims');
call probe.mends('insert into largesse.waiting_entry (activity_id, claim_id, user_id, quantity) select activity_id, id, user_id, 1 from largesse.claim where user_id = 41',
                 'list waiting_list_not_matching_claims, list waiting_list_not_matching_claims', 'already_right=1 repaired=1');
-- What a repair sets free goes to who waits first.
call probe.mends('with gone as (delete from largesse.claim where user_id = 42) select', 'list stock_not_matching_claims');
select probe.expect('moved up', (select status from largesse.claim where user_id = 43), 'issuing'), probe.expect('the others wait', (select count(*)::text from largesse.waiting_entry), '2');

select probe.expect('all books', probe.audit(), 'clean');

-- Claims that nobody would look at, and letters.
call probe.mends('update largesse.claim set next_attempt_at = null where user_id = 1', 'full claim_nobody_will_look_at');
select probe.expect('due now', (select (next_attempt_at between now() - interval '1 minute' and now() + interval '1 minute')::text from largesse.claim where user_id = 1), 'true');
call probe.mends('update largesse.claim set next_attempt_at = now() where user_id = 3 and status = ''failed''', 'full claim_nobody_will_look_at');
call probe.mends('update largesse.claim set review_since = now(), review_cause = ''attempts_used_up'', next_attempt_at = null where user_id = 1', 'full claim_under_review_without_dead_letter');
select probe.expect('a letter', (select provider || ' ' || cause from largesse.dead_letter where closed_at is null), 'simulator attempts_used_up');
update largesse.dead_letter set closed_at = now(), resolution = 'retried' where closed_at is null;
update largesse.claim set review_since = null, review_cause = null, next_attempt_at = now() + interval '1 hour' where user_id = 1;
call probe.mends('insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at) select activity_id, id, ''simulator'', ''x'', now() from largesse.claim where user_id = 2',
                 'full claim_under_review_without_dead_letter');
select probe.expect('settled', (select resolution from largesse.dead_letter where cause = 'x'), 'settled');
-- A lost callback: asked now, together. It is open until the provider has said how they ended.
update largesse.claim set created_at = now() - interval '3 hours', outcome = 'pending', step = 'inquire', attempts = 1, next_attempt_at = now() + interval '9 hours' where user_id in (14, 15);
select probe.expect('stuck', probe.audit(), 'endless claims_stuck');
select probe.expect('a lost callback', (select largesse.finding_json(f)::json ->> 'cause' from largesse.finding f where f.state <> 'gone'),
                    'the provider took them and has not said how they ended: a callback was lost, or it is slow to decide');
select probe.expect('previewed', probe.preview('repair') #>> '{items,0,after}', '2 claims due now');
select probe.expect('asked', probe.operate('repair'), 'created repaired=1');
select probe.expect('due', (select count(*)::text from largesse.claim where user_id in (14, 15) and next_attempt_at <= now() + interval '1 minute'), '2');
select probe.expect('not answered yet', probe.audit(), 'endless claims_stuck');
select probe.expect('asked already', probe.operate('repair'), 'created not_repairable=1');
insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
  select activity_id, id, 2, 'inquire', 'simulator', now(), 1, 'done' from largesse.claim where user_id in (14, 15);
select largesse.claim_move(array_agg(activity_id), array_agg(id), 'succeeded', null, null, null) from largesse.claim where user_id in (14, 15);
select probe.expect('answered', probe.audit(), 'clean');
-- Delivered after all had been given back: it is taken back at the provider, once.
call probe.mends('insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome) select activity_id, id, 1, ''deliver'', ''simulator'', now(), 1, ''done'' from largesse.claim where user_id = 3 and status = ''failed''',
                 'full claim_failed_but_delivered');
select probe.expect('a reversal is owed', (select reversal || ' ' || step from largesse.claim where user_id = 3 and status = 'failed'), 'owed reverse');
update largesse.provider_state set can_reverse = false;
call probe.is_for_people('update largesse.claim set reversal = null, reversal_since = null, step = ''deliver'', next_attempt_at = null where user_id = 3 and status = ''failed''',
                         'claim_failed_but_delivered', 'its provider cannot take a delivery back%');
update largesse.provider_state set can_reverse = true;

-- Explained: gone with who and why, and it stays so while it says the same.
update largesse.points_entry set amount = 400 where user_id = 33;
select probe.expect('found', probe.audit(), 'exchange points_not_matching_ledger');
select probe.expect('previewed', probe.preview('explain') ->> 'explained', '1');
select probe.expect('explained', probe.operate('explain', 'why'), 'created explained=1');
select probe.expect('the same', probe.audit(), 'clean');
select probe.expect('and again', probe.audit(), 'clean');
select probe.expect('who and why', (select (largesse.finding_json(f)::json -> 'resolution' ->> 'by') || ': ' || (largesse.finding_json(f)::json -> 'resolution' ->> 'reason') from largesse.finding f where f.resolved_at is not null), 'ann: was damaged');
select probe.expect('logged', (select count(*)::text from largesse.operator_log where action = 'finding.explained'), '1');
select probe.expect('replayed', probe.operate('explain', 'why'), 'replayed explained=1');
update largesse.points_entry set amount = 401 where user_id = 33;
select probe.expect('another figure', probe.audit(), 'exchange points_not_matching_ledger');
select probe.expect('the explanation is over', (select count(*)::text from largesse.finding where resolved_at is not null), '0');
update largesse.points_entry set amount = 500 where user_id = 33;
select probe.expect('right again', probe.audit(), 'clean');
-- What is named and does not exist; a filter that means nothing; a key that was used for something else.
select probe.expect('no such finding', probe.operate('repair', null, '{nothing}'), 'created not_found=1');
select probe.expect('nothing is meant', probe.operate('explain'), 'created');
select probe.expect('another order', probe.operate('repair', 'why'), 'key_reused explained=1');

-- A preview looks at the first thousand repairs at most, fewer on a slow machine, and says at how many.
select largesse.finding_upsert(array_agg('usage_not_matching_claims:1:' || n), array_agg('usage_not_matching_claims'::text), null, null, array_agg('1'::text), array_agg('2'::text), null, null, null)
  from generate_series(1, 1001) n;
select probe.expect('a large preview', concat_ws(' ', p.doc ->> 'total', (p.doc ->> 'previewed')::int between 1 and 1000, p.doc -> 'notRepairable' = p.doc -> 'previewed',
  jsonb_array_length(p.doc -> 'items') = (p.doc ->> 'previewed')::int), '1001 t t t') from (select probe.preview('repair') as doc) p;
select probe.expect('explained at once', concat_ws(' ', p.doc ->> 'total', p.doc ->> 'previewed', p.doc ->> 'explained'), '1001 1001') from (select probe.preview('explain') as doc) p;
delete from largesse.finding;

-- Filters and orders of lists.
select largesse.audit_register('statement_probe', 'medium', 'x', 'x', 'x', 'day', null, 'statement');
select largesse.finding_upsert('{a,b,c}', '{statement_probe,stock_not_matching_claims,usage_not_matching_claims}', array[null, a.id, a.id], '{null,null,5}', '{1,1,1}', '{2,2,2}',
                               '{shop,null,null}', '{5,null,null}', '{JPY,null,null}') from largesse.activity a where a.code = 'seg';
update largesse.finding set opened_at = now() - interval '1 hour' where key = 'b';
create function probe.list(i_state text default null, i_kind text default null, i_severity text default null, i_code text default null, i_provider text default null,
                           i_source text default null, i_sort text default 'key', i_after text default '') returns text language sql as $$
  select string_agg(l.doc::json ->> 'key', ' ') from largesse.finding_list(i_state, i_kind, i_severity, i_code, i_provider, i_source, i_sort, i_after, 10) l
$$;
select probe.expect('all', probe.list(), 'a b c'), probe.expect('state', probe.list('open'), null), probe.expect('kind', probe.list(null, 'statement_probe'), 'a'),
       probe.expect('severity', probe.list(null, null, 'high'), 'c'), probe.expect('activity', probe.list(i_code => 'seg'), 'b c'), probe.expect('provider', probe.list(i_provider => 'shop'), 'a'),
       probe.expect('source', probe.list(i_source => 'audit'), 'b c'), probe.expect('most severe first', probe.list(i_sort => 'severity'), 'b c a'),
       probe.expect('oldest first', probe.list(i_sort => 'openedAt'), 'b a c'), probe.expect('newest first', probe.list(i_sort => '-openedAt'), 'a c b'),
       probe.expect('money', (select l.doc from largesse.finding_list(null, 'statement_probe', null, null, null, null, 'key', '', 1) l)::jsonb ->> 'amount', '5'),
       probe.expect('offered', (select l.doc::jsonb -> 'repair' ->> 'available' from largesse.finding_list(null, 'usage_not_matching_claims', null, null, null, null, 'key', '', 1) l), 'true'),
       probe.expect('not offered', (select l.doc::jsonb ->> 'repair' from largesse.finding_list(null, 'statement_probe', null, null, null, null, 'key', '', 1) l), null);
-- Page by page, each once, in every order.
create function probe.pages(i_sort text) returns text language plpgsql as $$
declare v_after text := ''; v_seen text[] := '{}'; v record;
begin
  loop
    select * into v from largesse.finding_list(null, null, null, null, null, null, i_sort, v_after, 1);
    exit when not found;
    v_seen := v_seen || (v.doc::json ->> 'key'); v_after := v.place;
  end loop;
  return array_to_string(v_seen, ' ');
end $$;
select probe.expect(s, probe.pages(s), probe.list(i_sort => s)) from unnest('{key,severity,openedAt,-openedAt}'::text[]) s;
delete from largesse.finding;

-- Every repair that an audit names exists, and says what it does; every next step that speaks of one has it.
select probe.expect(d.name, (to_regprocedure(format('largesse.repair_%s(bigint, bigint, text, boolean)', d.repair)) is not null and largesse.repair_text(d.repair) is not null)::text, 'true')
  from largesse.audit_definition d where d.repair is not null;
select probe.expect(d.name, (d.next_step like '%repair that is offered%' or d.next_step like '%: findings repair%')::text, (d.repair is not null)::text) from largesse.audit_definition d where d.source = 'audit' and d.name <> 'claim_sold_without_payment';

-- Beside claims: the repair waits for what is under way, and counts it.
create procedure probe.beside(i_codes text[], i_damage text, i_claim text) language plpgsql as $$
declare
  v_self text := format('host=127.0.0.1 port=%s dbname=%s user=%s', current_setting('port'), current_database(), current_user);
  v_told text;
begin
  execute i_damage;
  perform probe.expect('found after ' || i_damage, (probe.audit(i_codes) <> 'clean')::text, 'true');
  commit;
  perform dblink_connect('claims', v_self), dblink_connect('repair', v_self);
  perform dblink_exec('claims', 'begin');
  select t into v_told from dblink('claims', i_claim) r(t text);
  perform probe.expect('beside ' || i_damage, v_told, 'ACCEPTED');
  perform dblink_send_query('repair', 'select probe.operate(''repair'')');
  for n in 1 .. 1000 loop
    perform pg_stat_clear_snapshot();
    exit when exists (select from pg_stat_activity s where s.datname = current_database() and s.wait_event_type = 'Lock' and s.query like '%probe.operate%');
    perform probe.expect('waits for the claim: ' || i_damage, (n < 1000)::text, 'true');
    perform pg_sleep(0.01);
  end loop;
  perform dblink_exec('claims', 'commit');
  select t into v_told from dblink_get_result('repair') r(t text);
  perform dblink_disconnect('claims'), dblink_disconnect('repair');
  perform probe.expect('clean after ' || i_damage || ' beside ' || i_claim || ': ' || v_told, probe.audit(i_codes), 'clean');
end $$;
create function probe.give_up(i_user bigint) returns text language sql as $$ select case probe.move(i_user, 'failed') when 1 then 'ACCEPTED' end $$;
call probe.beside('{full}', 'update largesse.stock set remaining = remaining - 3 where activity_id = (select id from largesse.activity where code = ''full'')', 'select probe.claim(''full'', 4)');
call probe.beside('{seg}', 'update largesse.stock set remaining = remaining - 3 where activity_id = (select id from largesse.activity where code = ''seg'')', 'select probe.claim(''seg'', 17)');
call probe.beside('{full}', 'update largesse.usage set used = 1 where user_id = 5; insert into largesse.usage select activity_id, 5, period, period_start, 1, max_used from largesse.usage where user_id = 4', 'select probe.claim(''full'', 5)');
call probe.beside('{full,other}', 'update largesse.event_usage set used = 2 where user_id = 4', 'select probe.give_up(4)');
call probe.beside('{full}', 'update largesse.group_member set live = 2 where user_id = 5', 'select probe.give_up(5)');
call probe.beside('{full}', 'insert into largesse.qualification (activity_id, user_id, claim_id, created_at) select activity_id, 8, 5, now() from largesse.qualification where user_id = 1', 'select probe.claim(''full'', 6)');
call probe.beside('{lottery}', 'update largesse.activity_number set status = ''available'', claim_id = null where number = 8', 'select probe.claim(''lottery'', 24, ''{77}'')');
call probe.beside('{list}', 'update largesse.stock set waiting = 9 where segment = 0 and activity_id = (select id from largesse.activity where code = ''list'')', 'select probe.claim(''list'', 46)');
call probe.beside('{exchange}', 'with gone as (delete from largesse.points_entry where user_id = 32 and key like ''return/%'') update largesse.points_account set balance = 400 where user_id = 32',
                  'select case g.outcome when ''ok'' then ''ACCEPTED'' end from largesse.points_grant(32, ''now'', 10, ''x'', ''test'') g');
select probe.expect('granted and returned', (select balance::text from largesse.points_account where user_id = 32), '510');
select probe.expect('all books', probe.audit(), 'clean');
-- What went on with a wrong balance left entries that contradict each other.
update largesse.points_account set balance = balance + 7 where user_id = 31;
select largesse.points_grant(31, 'later', 10, 'x', 'test');
call probe.is_for_people('select 1', 'points_not_matching_ledger', 'entries sum to 410, the last one says 417');
