-- SPDX-License-Identifier: Apache-2.0
-- Qualifications, points, attributes, progress and blocked users: what is told twice counts once, what is wrong leaves nothing behind.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
create function probe.make(i_code text) returns void language sql as $$
  select largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
    'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 5}'::jsonb), 'test', null)
$$;
select probe.make('list'), probe.make('other');

-- Qualifications. Of a user named twice the first counts; who is there already stays as he is.
create function probe.import(i_code text, i_users bigint[], i_sources text[] default null, i_batches text[] default null, i_exts text[] default null)
returns text language sql as $$
  select concat_ws(' ', outcome, inserted, duplicates) from largesse.qualification_import(i_code, i_users, i_sources, i_batches, i_exts)
$$;
select probe.expect('users alone', probe.import('list', '{3, 1, 2, 3}'), 'ok 3 1');
select probe.expect('with all columns', probe.import('list', '{5, 1, 5, 4}', '{shop, shop, app, null}', '{b1, b1, b2, b2}', array['{"a": null}', null, '{}', '{}']), 'ok 2 2');
select probe.expect('in order', string_agg(l.user_id::text, ' '), '1 2 3 4 5') from largesse.qualification_list('list', null, null, 0, 10) l;
select probe.expect('the first of two', (l.doc::jsonb - 'createdAt')::text, '{"userId": "5", "status": "unused", "source": "shop", "batch": "b1", "ext": {"a": null}}'::jsonb::text)
  from largesse.qualification_list('list', 5, null, 0, 10) l;
select probe.expect('who was there', l.doc::jsonb ->> 'source', null) from largesse.qualification_list('list', 1, null, 0, 10) l;
update largesse.qualification set claim_id = 7 where user_id = 2;
select probe.expect('a used one stays used', probe.import('list', '{2, 6}'), 'ok 1 1');
select probe.expect('used', string_agg(l.user_id || ' ' || right(l.doc::jsonb ->> 'claimId', 2), ' '), '2 -7') from largesse.qualification_list('list', null, 'used', 0, 10) l;
select probe.expect('unused, a page', string_agg(l.user_id::text, ' '), '3 4') from largesse.qualification_list('list', null, 'unused', 1, 2) l;
select probe.expect('each activity has its own', probe.import('other', '{1, 2}'), 'ok 2 0');
select probe.expect('nobody', probe.import('list', '{}'), 'ok 0 0');
select probe.expect('unknown', (select outcome from largesse.qualification_import('nothing', '{1}', null, null, null)), 'ACTIVITY_NOT_FOUND');
do $$ begin
  perform probe.import('list', '{10, 11, 0}');
  raise exception 'user 0 was taken';
exception when check_violation then null; end $$;
do $$ begin
  perform probe.import('list', '{10, 11}', null, null, array['{}', '{']);
  raise exception 'broken JSON was taken';
exception when invalid_text_representation then null; end $$;
select probe.expect('all or nothing', count(*)::text, '0') from largesse.qualification where user_id in (10, 11);
update largesse.activity set status = 'finished' where code = 'other';
select probe.expect('finished', (select outcome || ' ' || detail from largesse.qualification_import('other', '{9}', null, null, null)), 'STATE_CONFLICT the activity is finished');

-- Points: once per user and key.
create function probe.grant(i_user bigint, i_key text, i_amount bigint, i_reason text default 'r') returns text language sql as $$
  select concat_ws(' ', outcome, balance) from largesse.points_grant(i_user, i_key, i_amount, i_reason, 'test')
$$;
select probe.expect('nobody has points', balance || ' ' || coalesce(id::text, 'no entry'), '0 no entry') from largesse.points_show(1, 0, 10);
select probe.expect('a grant', probe.grant(1, 'a', 100), 'ok 100');
select probe.expect('another', probe.grant(1, 'b', 50), 'ok 150');
select probe.expect('the first again', probe.grant(1, 'a', 100), 'replayed 100');
select probe.expect('another amount', probe.grant(1, 'a', 101), 'BIZ_ID_REUSED');
select probe.expect('another reason', probe.grant(1, 'a', 100, 'x'), 'BIZ_ID_REUSED');
select probe.expect('another user', probe.grant(2, 'a', 7), 'ok 7');
select probe.expect('too much', probe.grant(1, 'c', 9223372036854775807), 'INVALID_REQUEST');
select probe.expect('the balance', string_agg(s.balance || ' ' || s.doc, ' ' order by s.id)::text,
  (select string_agg(format('150 {"id":"%s","kind":"grant","bizId":"%s","amount":%s,"balance":%s,"reason":"r","actor":"test","at":"%s"}',
                            e.id, right(e.key, 1), e.amount, e.balance, largesse.time_text(e.at)), ' ' order by e.id) from largesse.points_entry e where e.user_id = 1))
  from largesse.points_show(1, 0, 10) s;
select probe.expect('a page', count(*)::text, '1') from largesse.points_show(1, (select min(id) from largesse.points_entry where user_id = 1), 10);
do $$ begin
  perform probe.grant(1, 'd', 0);
  raise exception 'a grant of 0 was made';
exception when check_violation then null; end $$;

-- Many at once.
create function probe.grants(i_users bigint[], i_keys text[], i_amounts bigint[], i_reasons text[] default null) returns text language sql as $$
  select concat_ws(' ', outcome, inserted, duplicates, rejected_count, rejected)
    from largesse.points_grant_many(array(select generate_series(2, cardinality(i_users) + 1)), i_users, i_keys, i_amounts, i_reasons, 'test')
$$;
select probe.expect('new and old accounts', probe.grants('{3, 1, 3, 2}', '{a, m, b, m}', '{10, 1, 20, 3}'), 'ok 4 0 0 []');
select probe.expect('the same file again', probe.grants('{3, 1, 3, 2}', '{a, m, b, m}', '{10, 1, 20, 3}'), 'ok 0 4 0 []');
select probe.expect('a row twice', probe.grants('{3, 4, 3}', '{c, c, c}', '{5, 6, 5}'), 'ok 2 1 0 []');
select probe.expect('balances', string_agg(user_id || '=' || balance, ' ' order by user_id), '1=151 2=10 3=35 4=6') from largesse.points_account;
select probe.expect('running balances', string_agg(balance::text, ' ' order by id), '10 30 35') from largesse.points_entry where user_id = 3;
select probe.expect('used otherwise before', probe.grants('{5, 3}', '{a, a}', '{1, 11}'),
  'INVALID_REQUEST 0 0 1 [{"line" : 3, "reason" : "bizId: was used for another grant of this user"}]');
select probe.expect('used otherwise in the file', (select rejected_count || ' ' || (rejected::jsonb -> 0 ->> 'line') from
  largesse.points_grant_many('{2, 3, 4}', '{5, 5, 5}', '{x, y, x}', '{1, 1, 2}', '{r, r, r}', 'test')), '1 4');
select probe.expect('a reason is content', (select rejected_count::text from largesse.points_grant_many('{2}', '{1}', '{a}', '{100}', '{other}', 'test')), '1');
select probe.expect('nothing is left', string_agg(user_id || '=' || balance, ' ' order by user_id), '1=151 2=10 3=35 4=6') from largesse.points_account;
do $$ begin
  perform probe.grants('{6, 6, 6}', '{a, b, c}', '{9223372036854775807, 1, 1}');
  raise exception 'a balance out of range';
exception when numeric_value_out_of_range then null; end $$;
select probe.expect('the ledger sums to the balances', string_agg(a.user_id::text, ' '), null)
  from largesse.points_account a where a.balance <> (select coalesce(sum(e.amount), 0) from largesse.points_entry e where e.user_id = a.user_id);
select probe.expect('rejected rows that are told', (select rejected_count || ' ' || jsonb_array_length(rejected::jsonb) from largesse.points_grant_many(
  array(select generate_series(1, 300)), array_fill(9::bigint, array[300]), array_fill('k'::text, array[300]), array(select generate_series(1, 300)::bigint), null, 'test')), '299 100');

-- Attributes and progress.
select probe.expect('none', largesse.user_attributes_get(1), '{}');
select probe.expect('put', largesse.user_attributes_put(1, '{"level": 5, "big": 12345678901234567890.125}'), '{"big": 12345678901234567890.125, "level": 5}');
select probe.expect('replaced', largesse.user_attributes_put(1, '{"vip": true}'), '{"vip": true}');
select probe.expect('got', largesse.user_attributes_get(1), '{"vip": true}');
do $$ begin
  perform largesse.user_attributes_put(1, '[]');
  raise exception 'a list was taken';
exception when check_violation then null; end $$;
select largesse.user_progress_put(1, 'b', 3), largesse.user_progress_put(1, 'a', 0.5), largesse.user_progress_put(1, 'b', 4), largesse.user_progress_put(2, 'b', 9);
select probe.expect('progress', string_agg(l.task || '=' || (l.doc::json ->> 'value'), ' '), 'a=0.5 b=4') from largesse.user_progress_list(1, null, '', 10) l;
select probe.expect('one task', string_agg(l.doc::json ->> 'value', ' '), '4') from largesse.user_progress_list(1, 'b', '', 10) l;

-- Blocked users.
create function probe.block(i_user bigint, i_reason text) returns text language sql as $$
  select concat_ws(' ', outcome, doc::jsonb ->> 'reason') from largesse.blocked_user_put('list', i_user, i_reason, 'test')
$$;
select probe.expect('blocked', probe.block(7, 'abuse'), 'created abuse');
select probe.expect('again', probe.block(7, 'abuse'), 'unchanged abuse');
select probe.expect('another reason', probe.block(7, null), 'updated');
select probe.expect('one more', probe.block(8, null), 'created');
select probe.expect('listed', string_agg(l.user_id::text, ' '), '7 8') from largesse.blocked_user_list('list', 0, 10) l;
select probe.expect('served again', largesse.blocked_user_delete('list', 7) || ' ' || largesse.blocked_user_delete('list', 7), 'ok ok');
select probe.expect('listed', string_agg(l.user_id::text, ' '), '8') from largesse.blocked_user_list('list', 0, 10) l;
select probe.expect('unknown', largesse.blocked_user_delete('nothing', 7), 'ACTIVITY_NOT_FOUND');
select probe.expect('unknown', (select outcome from largesse.blocked_user_put('nothing', 7, null, 'test')), 'ACTIVITY_NOT_FOUND');
