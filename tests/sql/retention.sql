-- SPDX-License-Identifier: Apache-2.0
-- What was kept for long enough goes, in small steps; what is open, young, or proves something stays.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'registration', 'timeZone', 'UTC', 'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day',
  'stock', '{"total": 9}'::jsonb), 'test', null), largesse.activity_action('a', 'publish', 'test', null, null);
create function probe.id() returns bigint language sql as $$ select id from largesse.activity where code = 'a' $$;
insert into largesse.claim (activity_id, id, user_id, created_at, updated_at, quantity, biz_id, status)
  select probe.id(), n, n, now(), now(), 1, 'b' || n, s from (values (1, 'succeeded'), (2, 'issuing'), (3, 'expired')) v(n, s);
insert into largesse.callback (provider, event_id, request_id, activity_id, claim_id, action, outcome, received_at, state)
  select 'bank', event, 'r', case when claim is not null then probe.id() end, claim, action, outcome, now() - age::interval, state
    from (values ('ended', 1, 'deliver', 'done', '500 days', 'applied'), ('young', 1, 'deliver', 'done', '300 days', 'ignored'), ('open', 2, 'deliver', 'pending', '500 days', 'ignored'),
                 ('said again', 1, 'deliver', 'done', '500 days', 'ignored'), ('refused', 3, 'charge', 'refused', '500 days', 'applied'),
                 ('refund', 3, 'refund', 'done', '500 days', 'applied'), ('paid', 3, 'charge', 'done', '500 days', 'owes_refund'), ('nobody', null, null, 'done', '500 days', 'unmatched'),
                 ('detached', 9, 'deliver', 'done', '500 days', 'applied')) v(event, claim, action, outcome, age, state);
insert into largesse.operation (kind, state, actor, rate, request, total, created_at, paid_until, next_at, finished_at)
  select 'retry', s, 'test', 10, 'r' || n, 3, now(), now(), now(), f from (values (1, 'done', now() - interval '500 days'), (2, 'done', now() - interval '10 days'), (3, 'running', null)) v(n, s, f);
insert into largesse.operation_item (operation_id, n, outcome, at) select o.id, n, 'not_found', now() from largesse.operation o, generate_series(1, 3) n;

create function probe.step(i_limit int default 100) returns text language sql as $$
  select string_agg(r.kind || ' ' || r.n, ', ' order by r.kind) from largesse.retention_step('400 days', '400 days', i_limit) r
$$;
select probe.expect('a small step', probe.step(2), 'callbacks 2, operation_items 2');
select probe.expect('the rest', probe.step(), 'callbacks 1, operation_items 1');
select probe.expect('nothing more', probe.step(), 'callbacks 0, operation_items 0');
select probe.expect('what stays', (select string_agg(event_id, ' ' order by event_id) from largesse.callback), 'detached ended open paid refund young');
select probe.expect('items', (select string_agg(o.request || ' ' || (select count(*) from largesse.operation_item i where i.operation_id = o.id), ', ' order by o.id) from largesse.operation o), 'r1 0, r2 3, r3 3');
-- What the provider confirmed by a callback alone is as well proved as before.
select largesse.reward_put('coupon', 'bank', 100, 'EUR', '{}');
update largesse.claim set reward_id = (select id from largesse.reward where code = 'coupon') where id = 1;
select probe.expect('no finding', (select string_agg(r.subject, ', ') from largesse.audit_run('claim_succeeded_without_delivery', probe.id()) r), null);
-- Only the reconciler may do it.
set role largesse_scheduler;
do $$
begin
  perform largesse.retention_step('1 s', '1 s', 1);
  raise exception 'the scheduler threw rows away';
exception when insufficient_privilege then null;
end $$;
