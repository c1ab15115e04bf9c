-- SPDX-License-Identifier: Apache-2.0
-- What operators do leaves one row each in the operator log, with who, what and why; what is refused, replayed or changes nothing leaves none. Each statement here is
-- a transaction, as it is for the daemons: acts are in the log when it commits.
create schema probe;
create table probe.seen (seq bigint not null);
insert into probe.seen values (0);
-- The rows since it was asked last. Expected: 'actor action target reason' each, separated by semicolons; '' is none.
create function probe.logged(i_what text, i_expected text) returns void language plpgsql as $$
declare v_got text;
begin
  select coalesce(string_agg(concat_ws(' ', l.actor, l.action, l.target, l.reason), '; ' order by l.seq), '') into v_got
    from largesse.operator_log l, probe.seen s where l.seq > s.seq;
  if v_got is distinct from i_expected then raise exception '%: expected "%", got "%"', i_what, i_expected, v_got; end if;
  update probe.seen set seq = (select h.seq from largesse.operator_log_head h);
end $$;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
create function probe.doc(i_code text, i_kind text, i_total int) returns jsonb language sql as $$
  select jsonb_strip_nulls(jsonb_build_object('code', i_code, 'name', i_code, 'kind', i_kind, 'timeZone', 'UTC', 'startAt', date_trunc('month', now()),
    'endAt', date_trunc('month', now()) + interval '2 months', 'stock', case when i_total is not null then jsonb_build_object('total', i_total) end, 'needsQualification', i_kind = 'reward',
    'rewardCode', case when i_kind = 'reward' then 'voucher' end,
    'price', case when i_kind = 'number' then '{"amount": 100, "currency": "CNY"}'::jsonb end, 'paymentProvider', case when i_kind = 'number' then 'pay' end,
    'holdFor', case when i_kind = 'number' then '15m' end))
$$;

-- Rewards, events, discount rules.
select largesse.reward_put('voucher', 'simulator', 100, 'CNY', '{}', 'ann', 'spring');
select probe.logged('a reward', 'ann reward.put voucher spring');
select largesse.reward_put('voucher', 'simulator', 100, 'CNY', '{}', 'ann', 'again');
select probe.logged('the same reward', '');
select largesse.event_put('fest', 'Festival', 'UTC', 'ann', 'spring'), largesse.event_put('fest', 'Festival', 'UTC', 'ann', 'again'), largesse.event_put('fest', 'Feast', 'UTC', 'ann', 'name');
select probe.logged('an event', 'ann event.put fest spring; ann event.put fest name');
select largesse.discount_rule_put('{"id": "r", "name": "r", "threshold": 1, "discount": {"percent": 5}, "priority": 1}', 'ann', 'sale');
select largesse.discount_rule_put('{"id": "r", "name": "r", "threshold": 1, "discount": {"percent": 5}, "priority": 1}', 'ann', 'sale');
select largesse.discount_rule_put('{"id": "r", "name": "r", "threshold": 1, "discount": {"percent": 5}, "priority": 1, "rewardCode": "none"}', 'ann', 'sale');
select probe.logged('a discount rule', 'ann discount_rule.put r sale');

-- Activities: put, moved, adjusted. What changes the total is one act.
select largesse.activity_put(probe.doc('a', 'reward', 10), 'ann', null, 'new');
select largesse.activity_put(probe.doc('a', 'reward', 10), 'ann', null, 'same');
select largesse.activity_put(probe.doc('a', 'reward', 10) || '{"rewardCode": "none"}', 'ann', null, 'wrong');
select largesse.activity_put(probe.doc('a', 'reward', 12), 'ann', 77, 'stale');
select probe.logged('a new activity', 'ann activity.put a new');
select largesse.activity_action('a', 'publish', 'ann', 'go', null);
select largesse.activity_action('a', 'publish', 'ann', 'go', null), largesse.activity_action('none', 'publish', 'ann', 'go', null);
select probe.logged('published', 'ann activity.publish a go');
select largesse.activity_put(probe.doc('a', 'reward', 12), 'ann', null, 'more');
select probe.logged('a changed total', 'ann activity.put a more');
select probe.expect('what changed', detail::json ->> 'changed' || (detail::json -> 'to' ->> 'stock'), '["stock.total"]{"total": 12}')
  from largesse.operator_log order by seq desc limit 1;
select largesse.stock_adjust('a', 'k', 5, 'found some', 'bob'), largesse.stock_adjust('b', 'k', 5, 'found some', 'bob');
select largesse.stock_adjust('a', 'k', 5, 'found some', 'bob'), largesse.stock_adjust('a', 'k', 6, 'found some', 'bob'), largesse.stock_adjust('a', 'l', -100, 'lost', 'bob');
select probe.logged('stock', 'bob stock.adjust a found some');
select largesse.activity_action('a', 'pause', 'ann', 'storm', null);
select largesse.activity_action('a', 'resume', 'ann', null, null);
select probe.logged('paused and resumed', 'ann activity.pause a storm; ann activity.resume a');

-- Lists.
select largesse.activity_put(probe.doc('n', 'number', null), 'ann', null, null);
select largesse.numbers_add('n', null, 1, 5, 'bob', 'first'), largesse.numbers_add('n', null, 1, 5, 'bob', 'again'), largesse.numbers_add('a', null, 1, 5, 'bob', 'wrong');
select largesse.numbers_ensure('n', 1, 5, 'bob', 'file'), largesse.numbers_ensure('n', 4, 6, 'bob', 'file');
select probe.logged('numbers', 'ann activity.put n; bob numbers.add n first; bob numbers.add n file');
select largesse.qualification_import('a', array[1, 2], null, null, null, 'bob', 'winners'), largesse.qualification_import('a', array[1, 2], null, null, null, 'bob', 'again');
select probe.logged('qualifications', 'bob qualifications.import a winners');
select largesse.points_grant(7, 'g', 100, 'sorry', 'bob', true), largesse.points_grant(7, 'g', 100, 'sorry', 'bob', true), largesse.points_grant(7, 'g', 200, 'sorry', 'bob', true);
select largesse.points_grant(7, 'click', 1, 'signed in', 'shop');
select probe.logged('points', 'bob points.grant 7 sorry');
select largesse.points_grant_many(array[1, 2], array[7, 8], array['m', 'm'], array[5, 5], array['x', 'x'], 'bob', 'season');
select largesse.points_grant_many(array[1, 2], array[7, 8], array['m', 'm'], array[5, 5], array['x', 'x'], 'bob', 'again');
select largesse.points_grant_many(array[1, 2], array[7, 9], array['m', 'm'], array[6, 5], array['x', 'x'], 'bob', 'wrong');
select probe.logged('points of many', 'bob points.import points season');
select largesse.blocked_user_put('a', 9, 'cheats', 'bob'), largesse.blocked_user_put('none', 9, 'cheats', 'bob');
select largesse.blocked_user_put('a', 9, 'cheats', 'bob');
select largesse.blocked_user_delete('a', 9, 'bob', 'did not');
select largesse.blocked_user_delete('a', 9, 'bob', 'did not'), largesse.blocked_user_delete('none', 9, 'bob', 'did not');
select probe.logged('blocked', 'bob user.block 9 cheats; bob user.unblock 9 did not');

-- Providers and webhooks.
select largesse.provider_register('f1', array['simulator'], array[4], array[0], array[true], array[true], array[true]);
select largesse.provider_pause('simulator', null, '1 hour', 'bob', 'sick');
select largesse.provider_pause('nobody', null, '1 hour', 'bob', 'sick'), largesse.provider_pause('simulator', now() - interval '1 hour', null, 'bob', 'sick');
select largesse.provider_resume('simulator', 'bob', 'well');
select largesse.provider_resume('simulator', 'bob', 'well');
select largesse.provider_set('simulator', '2', null, null, 'bob', 'gently');
select largesse.provider_set('simulator', '2', null, null, 'bob', 'gently'), largesse.provider_set('simulator', '0', null, null, 'bob', 'wrong');
select probe.logged('providers', 'bob provider.pause simulator sick; bob provider.resume simulator well; bob provider.set simulator gently');
select largesse.webhook_register(array['shop'], array['https://shop'], array['h'], array['webhook.ping']);
select largesse.webhook_switch('shop', false, 'bob', 'moves');
select largesse.webhook_switch('shop', false, 'bob', 'moves'), largesse.webhook_switch('none', false, 'bob', 'moves');
select largesse.webhook_switch('shop', true, 'bob', 'moved');
select largesse.webhook_ping('shop', 'bob', 'there?'), largesse.webhook_ping('none', 'bob', 'there?');
select largesse.webhook_replay('shop', null, now() - interval '1 day', true, 0, 10, 'bob', 'again');  -- nothing has ended yet
update largesse.webhook_out set state = 'dead', finished_at = now(), next_at = null;
select largesse.webhook_replay('shop', null, now() - interval '1 day', false, 0, 10, 'bob', 'again'), largesse.webhook_replay('none', 1, null, true, 0, 10, 'bob', 'again');
select probe.logged('webhooks', 'bob webhook.disable shop moves; bob webhook.enable shop moved; bob webhook.test shop there?; bob webhook.replay shop again');

-- News that could not be sent.
select largesse.event_out_retry(null, 'bob'), largesse.event_out_discard(null, 'bob');
select probe.logged('no parked news', '');
insert into largesse.event_out (type, at, event_ids, subjects, docs, traces, send_after, parked_at, fault)
  select 'x.y', now(), array['e' || n], array['s'], array['{}'], array[''], now(), now(), 'f' from generate_series(1, 2) n;
select largesse.event_out_retry(array(select min(id) from largesse.event_out where parked_at is not null), 'bob', 'once more'), largesse.event_out_discard(null, 'bob', 'useless');
select probe.expect('news', string_agg(concat_ws(' ', actor, action, reason), '; ' order by seq), 'bob events.retry once more; bob events.discard useless')
  from (select * from largesse.operator_log order by seq desc limit 2) l;
update probe.seen set seq = (select h.seq from largesse.operator_log_head h);

-- Dead letters and claims. One thing is named itself, several by their operation.
select largesse.qualification_import('a', array[3, 4, 5], null, null, null, 'bob', null);
select largesse.claim_submit(id, array['c1', 'c2', 'c3'], array[3, 4, 5]::bigint[], array[1, 1, 1], array_fill(null::text, array[3]), '5 s') from largesse.activity where code = 'a';
update largesse.claim set review_since = now(), review_cause = 'x', next_attempt_at = null, attempts = 4, step = 'inquire';
select largesse.dead_letter_open(array_agg(activity_id), array_agg(id), array_agg('simulator'::text), array_agg('x'::text), array_agg(null::text), array_agg('x'::text)) from largesse.claim;
update probe.seen set seq = (select h.seq from largesse.operator_log_head h);
select largesse.operation_preview('retry', null, null, null, 'simulator', null, null, null, false);
select largesse.operation_begin('retry', null, null, null, 'none', null, null, null, 'eve', 'nothing', null, true, 100, null);
select probe.logged('nothing is meant', '');
select largesse.operation_begin('retry', array[1], null, null, null, null, null, null, 'eve', 'once', null, true, 100, 'key');
select largesse.operation_begin('retry', array[1], null, null, null, null, null, null, 'eve', 'once', null, true, 100, 'key');
select largesse.operation_begin('retry', array[2], null, null, null, null, null, null, 'eve', 'once', null, true, 100, 'key');
select probe.logged('one letter', (select 'eve dead_letters.retry ' || activity_id || '-' || claim_id || ' once' from largesse.dead_letter where id = 1));
select largesse.operation_begin('refund', null, null, null, 'simulator', null, null, null, 'eve', 'all', null, true, 100, null);
select largesse.operation_cancel(max(id), 'eve', 'oops') from largesse.operation;
select largesse.operation_cancel(max(id), 'eve', 'oops'), largesse.operation_cancel(0, 'eve', 'oops') from largesse.operation;
select probe.logged('many', (select format('eve dead_letters.refund operation/%s all; eve operation.cancel operation/%s oops', max(id), max(id)) from largesse.operation));
select largesse.operation_begin('resolve', array[2], null, null, null, null, null, null, 'eve', 'seen', 'proof', true, 100, null);
select largesse.operation_begin('roll_back', '{}', array_agg(activity_id), array_agg(id), null, null, null, null, 'eve', 'back', null, true, 100, null) from largesse.claim where biz_id = 'c3';
select probe.expect('kinds', string_agg(action, ' ' order by seq), 'dead_letters.resolve claims.roll_back') from (select * from largesse.operator_log order by seq desc limit 2) l;
update probe.seen set seq = (select h.seq from largesse.operator_log_head h);

-- Keys and sessions.
select probe.expect('a key', (k).outcome, 'ok') from (select largesse.key_add('shop', 'lg_1', sha256('1'), array['read', 'claims'], null, 'root', 'shop') as k) k;
select probe.expect('refused', (k).outcome || ' ' || split_part((k).detail, ':', 1), wanted) from (
  select largesse.key_add('shop', 'lg_2', sha256('2'), array['read'], null, 'root', null) as k, 'STATE_CONFLICT there is a key of this name; revoke it first, or choose another name' as wanted union all
  select largesse.key_add('x y', 'lg_2', sha256('2'), array['read'], null, 'root', null) as k, 'INVALID_REQUEST name' as wanted union all
  select largesse.key_add('anonymous', 'lg_2', sha256('2'), array['read'], null, 'root', null) as k, 'INVALID_REQUEST name' as wanted union all
  select largesse.key_add('x', 'lg_2', sha256('2'), array['root'], null, 'root', null) as k, 'INVALID_REQUEST scope' as wanted union all
  select largesse.key_add('x', 'lg_2', sha256('2'), '{}', null, 'root', null) as k, 'INVALID_REQUEST scope' as wanted union all
  select largesse.key_add('x', 'lg_2', sha256('2'), array['read'], now(), 'root', null) as k, 'INVALID_REQUEST expires' as wanted) v;
select probe.logged('keys', 'root key.add shop shop');
select probe.expect('signed in', string_agg(concat_ws(' ', s.outcome, s.name, s.scopes), ',' order by n), 'ok shop claims,read,UNAUTHENTICATED')
  from (select 1 as n, * from largesse.session_begin(sha256('1'), sha256('s1'), null) union all select 2, * from largesse.session_begin(sha256('x'), sha256('s2'), null)) s;
select probe.logged('signed in', 'shop session.sign_in shop');
select probe.expect('known', name || ' ' || scopes, 'shop claims,read') from largesse.session_check(sha256('s1'));
select largesse.key_revoke('shop', 'root', 'gone');
select largesse.key_revoke('shop', 'root', 'gone'), largesse.key_revoke('none', 'root', 'gone');
select probe.expect('its sessions ended', count(*)::text, '0') from largesse.session_check(sha256('s1'));
select probe.expect('and no new one', outcome, 'UNAUTHENTICATED') from largesse.session_begin(sha256('1'), sha256('s3'), null);
select probe.logged('revoked', 'root key.revoke shop gone');
select largesse.key_add('shop', 'lg_3', sha256('3'), array['admin'], null, 'root', 'anew');
select probe.logged('a name may be used again', 'root key.add shop anew');

-- Of a key's sessions the newest 20 are kept.
select largesse.session_begin(sha256('3'), sha256(('m' || n)::bytea), null) from generate_series(1, 25) n;
select probe.expect('sessions of a key', count(*)::text, '20') from largesse.console_session;

-- What daemons hear of keys: once, until something changes.
create temp table heard as select * from largesse.key_poll('', '{}');
select probe.expect('keys', string_agg(concat_ws(' ', name, scopes, expires_us), ',' order by id), 'shop admin') from heard where id is not null;
select probe.expect('nothing new', count(*)::text, '1') from largesse.key_poll((select mark from heard limit 1), (select array_agg(id) from heard where id is not null));
select probe.expect('it was used', (used_at is not null)::text, 'true') from largesse.api_key where revoked_at is null;
update largesse.api_key set expires_at = now() - interval '1 second' where revoked_at is null;
select probe.expect('an end is news', count(*)::text || max(id), '1') from largesse.key_poll((select mark from heard limit 1), '{}') having max(id) is not null;
select probe.expect('nobody is left', count(id)::text, '0') from largesse.key_poll((select mark from heard limit 1), '{}');

-- A transaction that fails leaves nothing, and one that does many things leaves them in their order, under one chain.
begin;
select largesse.reward_put('gone', 'simulator', null, null, '{}', 'ann', 'no');
rollback;
update probe.seen set seq = (select h.seq from largesse.operator_log_head h);
begin;
select largesse.reward_put('one', 'simulator', null, null, '{}', 'ann', '1');
select largesse.activity_put(probe.doc('two', 'registration', 10), 'ann', null, '2');
select probe.logged('not before the commit', '');
commit;
select probe.logged('in order', 'ann reward.put one 1; ann activity.put two 2');
select probe.expect('no draft is left', count(*)::text, '0') from largesse.operator_log_draft;
select probe.expect('every row follows the one before', count(*)::text, '0') from (
  select l.*, lag(l.hash, 1, sha256('largesse operator log')) over (order by l.seq) as previous, row_number() over (order by l.seq) as place from largesse.operator_log l) l
 where l.seq <> l.place or l.hash_before <> l.previous or l.hash <> largesse.log_hash(l.previous, l.seq, l.at, l.actor, l.action, l.target, l.reason, l.detail);

-- Filters of the list, and its pages.
select probe.expect('by noun', count(*)::text, (select count(*)::text from largesse.operator_log where action like 'activity.%')) from largesse.log_list(null, 'activity', null, null, null, null, 1000);
select probe.expect('by action', count(*)::text, '1') from largesse.log_list(null, 'activity.pause', null, null, null, null, 1000);
select probe.expect('by all', string_agg(doc::json ->> 'reason', ','), 'storm') from largesse.log_list('ann', 'activity.pause', 'a', now() - interval '1 day', now() + interval '1 day', null, 10);
select probe.expect('until', count(*)::text, '0') from largesse.log_list(null, null, null, null, now() - interval '1 day', null, 10);
select probe.expect('newest first', string_agg(seq::text, ','), string_agg(seq::text, ',' order by seq desc)) from largesse.log_list(null, null, null, null, null, null, 5);
select probe.expect('pages', count(distinct seq)::text, (select count(*)::text from largesse.operator_log)) from (
  with recursive page as (
    select p.* from largesse.log_list(null, null, null, null, null, null, 1) p
    union all
    select n.* from page, lateral (select * from largesse.log_list(null, null, null, null, null, page.seq, 1)) n
  ) select * from page) all_pages;

-- Nobody changes the log, and the daemons' roles cannot even write drafts.
do $$ begin
  delete from largesse.operator_log where seq = 1;
  raise exception 'a row was deleted';
exception when object_not_in_prerequisite_state then null; end $$;
do $$
declare v_role text;
begin
  foreach v_role in array array['largesse_scheduler', 'largesse_fulfiller', 'largesse_reconciler'] loop
    if has_table_privilege(v_role, 'largesse.operator_log', 'insert,update,delete') or has_table_privilege(v_role, 'largesse.operator_log_draft', 'insert')
       or has_table_privilege(v_role, 'largesse.api_key', 'select,insert,update') or has_table_privilege(v_role, 'largesse.console_session', 'select')
       or has_function_privilege(v_role, 'largesse.log_append(text, text, text, text, jsonb)', 'execute') then
      raise exception '% has a right that it does not need', v_role;
    end if;
    if not has_function_privilege(v_role, 'largesse.key_poll(text, bigint[])', 'execute') then raise exception '% cannot look keys up', v_role; end if;
    if v_role <> 'largesse_reconciler' and (has_function_privilege(v_role, 'largesse.key_add(text, text, bytea, text[], timestamptz, text, text)', 'execute')
                                            or has_function_privilege(v_role, 'largesse.session_check(bytea)', 'execute')) then
      raise exception '% can make keys', v_role;
    end if;
  end loop;
end $$;
