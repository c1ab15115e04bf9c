-- SPDX-License-Identifier: Apache-2.0
-- What sessions of the parallel test do, each call one transaction as the daemons make it: activities of all kinds that share a group, an event and users, and
-- calls that choose at random among what is new.
create schema probe;
select largesse.reward_put('gift', 'wallet', 100, 'CNY', '{}');
insert into largesse.provider_state (provider, configured_concurrency, configured_rate, can_reverse, can_inquire, repeat_is_safe, changed_at)
  select p, 1, 0, true, true, true, largesse.clock_now() from unnest(array['wallet', 'bank']) p;
select largesse.event_put('fair', 'fair', 'UTC');
create table probe.activity (n int primary key, id bigint, code text, kind text, segments int);
create function probe.make(i_n int, i_code text, i_kind text, i_more jsonb) returns void language plpgsql as $$
declare
  v record;
begin
  select * into v from largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', i_kind, 'timeZone', 'Asia/Shanghai', 'eventCode', 'fair', 'exclusiveGroup', 'hot',
    'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'limits', '[{"count": 2, "period": "total"}, {"count": 2, "period": "day"}, {"count": 3, "period": "event"}]'::jsonb) || i_more, 'test', null);
  if v.outcome <> 'created' then raise exception '%: %', i_code, v.detail; end if;
  if i_kind = 'number' then perform largesse.numbers_add(i_code, null, 1, 25, 'test'); end if;
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
  perform largesse.qualification_import(i_code, array(select generate_series(1, 40)::bigint), null, null, null);
  insert into probe.activity select i_n, a.id, i_code, i_kind, a.segments from largesse.activity a where a.code = i_code;
end $$;
select probe.make(0, 'plain', 'reward', '{"rewardCode": "gift", "stock": {"total": 30}}'),
       probe.make(1, 'split', 'reward', '{"rewardCode": "gift", "stock": {"total": 40, "segments": 4}, "needsQualification": true}'),
       probe.make(2, 'hall', 'registration', '{"stock": {"total": 6}, "waitingList": {"max": 12, "acceptWithin": "1s"}, "needsQualification": true}'),
       probe.make(3, 'course', 'registration', '{"rewardCode": "gift", "stock": {"total": 5}, "waitingList": {"max": 12}}'),
       probe.make(4, 'lot', 'number', '{"price": {"amount": 500, "currency": "CNY"}, "paymentProvider": "bank", "holdFor": "1s", "latePayment": "reallocate"}'),
       probe.make(5, 'seats', 'number', '{"rewardCode": "gift", "price": {"amount": 500, "currency": "CNY"}, "paymentProvider": "bank", "holdFor": "1s", "latePayment": "refund", "stock": {"total": 20}}'),
       probe.make(6, 'shop', 'exchange', '{"rewardCode": "gift", "pointsCost": 20, "stock": {"total": 50}}'),
       probe.make(7, 'bar', 'exchange', '{"rewardCode": "gift", "pointsCost": 10, "stock": {"total": 50}, "onRefused": "review"}'),
       probe.make(8, 'queue', 'reward', '{"rewardCode": "gift", "stock": {"total": 50}, "intake": "queued"}');
create sequence probe.keys;

create function probe.draw() returns probe.activity language sql volatile as $$
  select a from (select floor(random() * 9)::int as n offset 0) d join probe.activity a on a.n = d.n
$$;
-- Claims among the newest, of one activity, in no order.
create function probe.claims(i_activity bigint, i_statuses text[], i_limit int) returns setof largesse.claim language sql volatile as $$
  select * from (
    select c.* from largesse.claim c where c.activity_id = i_activity and c.status = any (i_statuses) order by c.id desc limit 40) c
  order by random() limit i_limit
$$;

create function probe.claim() returns void language plpgsql as $$
declare
  a probe.activity := probe.draw();
  r record;
  v_count int := 1 + floor(random() * 12)::int;
begin
  select array_agg('b' || nextval('probe.keys')) as biz, array_agg(floor(1 + random() * 40)::bigint) as users, array_agg(case a.kind when 'number' then 2 else 1 end) as quantities,
         array_agg(null::text) as channels,
         case a.kind when 'number' then array(select k from generate_series(1, v_count) k, generate_series(1, 2) order by k) end as ords
    into r from generate_series(1, v_count) n;
  if a.code = 'queue' then
    perform largesse.claim_enqueue(a.id, r.biz, r.users, r.quantities, r.channels, null, null, r.channels, 1000, true);
    return;
  end if;
  perform largesse.claim_submit(a.id, r.biz, r.users, r.quantities, r.channels, '30 s', r.ords,
    case when r.ords is not null then array(select 1 + (s.n * 7 + i.k * 11) % 25 from (select k, floor(random() * 25)::bigint as n from generate_series(1, v_count) k) s, generate_series(0, 1) i(k) order by s.k) end,
    null, case when a.segments > 1 and random() < 0.8 then floor(random() * a.segments)::int end);
end $$;
create function probe.queue_step() returns void language sql as $$ select largesse.claim_queue_step(50, '30 s') $$;
create function probe.cancel() returns void language sql as $$
  select largesse.claim_cancel(c.activity_id, c.id, null) from (select probe.draw() as a offset 0) d, probe.claims((d.a).id, '{waiting,offered,held,succeeded}', 1) c
$$;
create function probe.accept() returns void language sql as $$
  select largesse.claim_accept(c.activity_id, c.id) from probe.activity a, probe.claims(a.id, '{offered}', 1) c where a.code = 'hall'
$$;
create function probe.expire() returns void language sql as $$ select largesse.claim_expire(100) $$;
create function probe.adjust() returns void language sql as $$
  select largesse.stock_adjust((d.a).code, 'k' || nextval('probe.keys'), (floor(random() * 4) * 2 - 3)::bigint, 'test', 'test') from (select probe.draw() as a offset 0) d where (d.a).code <> 'lot'
$$;
create function probe.grant() returns void language sql as $$
  select largesse.points_grant(floor(1 + random() * 40)::bigint, 'k' || nextval('probe.keys'), 10 + floor(random() * 30)::bigint, 'test', 'test')
$$;
create function probe.grant_many() returns void language sql as $$
  select largesse.points_grant_many(array_agg(n::int), array_agg(floor(1 + random() * 40)::bigint), array_agg('k' || nextval('probe.keys')), array_agg(5::bigint), array_agg('test'::text), 'test') from generate_series(1, 20) n
$$;
create function probe.callback() returns void language sql as $$
  select largesse.callback_apply('bank', 'e' || nextval('probe.keys'), c.activity_id || '-' || c.id || '-p', c.activity_id, c.id, 'charge', case when random() < 0.6 then 'done' else 'refused' end,
           'ref', 'F1', 'told', null, null, '{}', null, random() < 0.5)
    from (select probe.draw() as a offset 0) d, probe.claims((d.a).id, '{held,expired,cancelled,issuing,succeeded}', 1) c where c.payment is not null and c.attempts > 0
$$;
create function probe.operate() returns void language sql as $$
  select largesse.operation_begin('roll_back', null, array_agg(c.activity_id), array_agg(c.id), null, null, null, null, 'test', 'test', null, false, 1000, null)
    from probe.activity a, probe.claims(a.id, '{succeeded}', 2) c where random() < 0.4 having count(*) > 0
$$;
create function probe.review() returns void language sql as $$
  select largesse.operation_begin(case when random() < 0.5 then 'refund' else 'retry' end, null, null, null, null, null, null, null, 'test', 'test', null, false, 1000, null)
$$;
create function probe.operation_step() returns void language sql as $$ select largesse.operation_step(null, 20) $$;
create function probe.sweep() returns void language sql as $$ select largesse.claim_sweep(100, '-infinity', '1 s', '{}') $$;
create function probe.pause() returns void language sql as $$
  select largesse.activity_action(a.code, case a.status when 'paused' then 'resume' else 'pause' end, 'test', null, null)
    from (select probe.draw() as a offset 0) d join largesse.activity a on a.id = (d.a).id where a.status = 'paused' or random() < 0.2
$$;

-- A repair of what is right changes nothing, whatever goes on beside it; one that makes a claim due sooner may.
create function probe.repair() returns void language plpgsql as $$
declare
  a        probe.activity := probe.draw();
  v_user   bigint := 1 + floor(random() * 40);
  v_claim  bigint := (select c.id from probe.claims(a.id, '{waiting,offered,held,issuing,succeeded,failed,expired,cancelled,rolled_back}', 1) c);
  v_name   text := (array['stock', 'usage', 'usage', 'event_usage', 'group_member', 'qualification', 'number', 'waiting', 'waiting', 'points_balance', 'points_return', 'dead_letter',
                          'claim_due', 'reversal'])[1 + floor(random() * 14)::int];
  v_about  text := case v_name when 'stock' then 'stock' when 'event_usage' then 'event usage user ' || v_user when 'group_member' then 'group member ' || v_user
                     when 'usage' then format('usage user %s %s', v_user, case when random() < 0.5 then 'total -infinity' else 'day ' || (now() at time zone 'Asia/Shanghai')::date end)
                     when 'qualification' then format('qualification user %s claim 1', v_user) when 'number' then format('number %s of claim 1', 1 + floor(random() * 25))
                     when 'waiting' then case when random() < 0.5 then 'waiting' else 'claim ' || v_claim end when 'points_balance' then 'points user ' || v_user else '' end;
  r        record;
begin
  perform 1 from largesse.activity w where w.id = a.id for no key update;  -- as finding_try
  execute format('select * from largesse.repair_%s($1, $2, $3, true)', v_name) into r using a.id, v_claim, v_about;
  if r.outcome = 'repaired' and v_name <> 'claim_due' then
    raise exception 'repair of % in %, claim %: % became %', v_about, a.code, v_claim, r.before, r.after;
  end if;
end $$;
-- Nothing is found while everything goes on, by audits of what does not depend on time.
create function probe.look() returns void language plpgsql as $$
declare
  a       probe.activity := probe.draw();
  v_found text;
begin
  select string_agg(concat_ws(' ', s.name, r.subject, r.expected, r.actual), '; ') into v_found
    from largesse.audit_screen(a.id, random() < 0.5) s cross join lateral largesse.audit_run(s.name, a.id) r
   where s.name not in ('claims_stuck', 'claim_kept_past_deadline');  -- nor is null of what is kept of the sums
  if v_found is not null then raise exception 'found in %: %', a.code, v_found; end if;
end $$;

-- A fulfiller takes some claims of a lane, in no good order, and settles what came of them in further transactions: what is plain together, else by activity.
create function probe.take(i_lease interval) returns void language plpgsql as $$
declare
  v_provider text := case when random() < 0.5 then 'wallet' else 'bank' end;
  r record;
begin
  create temp table if not exists taken (activity_id bigint, claim_id bigint, attempt int, doing text, outcome text);
  select array_agg(c.activity_id) as activities, array_agg(c.id) as ids, array_agg(c.attempts) as attempts into r
    from (select c.* from probe.activity a, lateral (
            select c.* from largesse.claim c join largesse.reward w on w.id = largesse.step_terms(c.step, c.reward_id, c.payment_id)
             where c.activity_id = a.id and c.next_attempt_at is not null and c.review_since is null and (c.lease_until is null or c.lease_until < now()) and w.provider = v_provider
             order by c.id desc limit 10) c order by random() limit 10) c;
  insert into taken select t.activity_id, t.claim_id, t.attempt, t.doing,
      case when random() < 0.6 then 'done' when random() < 0.4 and t.doing not like '%refund' and t.doing not like '%reverse' then 'refused' else (array['retry', 'pending', 'unknown'])[1 + floor(random() * 3)::int] end
    from largesse.claim_take(r.activities, r.ids, r.attempts, i_lease, '0 s', v_provider) t where r.ids is not null;
end $$;
create function probe.settle() returns bigint language plpgsql as $$
declare
  r record;
begin
  -- What gives back or takes is of one activity in a transaction; the rest may be of any.
  with picked as (
    delete from taken t using (select activity_id from taken order by random() limit 1) first
     where t.activity_id = first.activity_id or not (t.outcome = 'refused' or t.outcome = 'done' and t.doing not in ('deliver', 'inquire', 'refund', 'inquire_refund')) returning t.*)
  select array_agg(p.activity_id) as activities, array_agg(p.claim_id) as ids, array_agg(p.attempt) as attempts, array_agg(p.doing) as steps, array_agg(p.outcome) as outcomes, count(*)::int as count
    into r from (select * from picked order by random()) p;
  if r.count > 0 then
    perform largesse.claim_settle(r.activities, r.ids, r.attempts, array_fill(1, array[r.count]), r.steps, r.outcomes, array_fill('probe'::text, array[r.count]), array_fill(200, array[r.count]),
      array_fill('ref'::text, array[r.count]), array_fill('X1'::text, array[r.count]), array_fill('detail'::text, array[r.count]), array_fill(now(), array[r.count]),
      array_fill(1000::bigint, array[r.count]), array_fill(30000::bigint, array[r.count]), array_fill(null::text, array[r.count]));
  end if;
  return (select count(*) from taken);
end $$;

-- --- the end: what is under way is brought to its end, and the books are looked at

create function probe.finish() returns boolean language plpgsql as $$
declare
  v_more boolean;
begin
  update largesse.operation set paid_until = now() - interval '1 day', next_at = now() where state = 'running';
  v_more := exists (select from largesse.claim_expire(100)) or exists (select from largesse.claim_queue_step(100, '30 s')) or exists (select from largesse.operation_step(null, 100));
  perform probe.take('1 ms');
  update taken set outcome = 'done';
  return v_more or exists (select from taken) or exists (select from largesse.claim c where c.next_attempt_at is not null and c.review_since is null);
end $$;
create function probe.audit() returns text language sql as $$
  select string_agg(x, e'\n') from (
    select concat_ws(' ', a.code, d.name, r.*) as x from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r
    union all
    select concat_ws(' ', 'points of', p.user_id, p.balance, sum(e.amount)) from largesse.points_account p left join largesse.points_entry e on e.user_id = p.user_id group by p.user_id having p.balance <> coalesce(sum(e.amount), 0)
    union all
    select concat_ws(' ', 'number', n.activity_id, n.number, n.status, c.status) from largesse.activity_number n left join largesse.claim c on c.activity_id = n.activity_id and c.id = n.claim_id
     where n.status <> case c.status when 'held' then 'held' when 'issuing' then 'sold' when 'succeeded' then 'sold' else 'available' end or n.claim_id is not null and n.number <> all (c.numbers)
    union all
    select concat_ws(' ', 'numbers of', c.activity_id, c.id, c.status) from largesse.claim c where c.numbers is not null and c.status in ('held', 'issuing', 'succeeded')
       and (select count(*) from largesse.activity_number n where n.activity_id = c.activity_id and n.claim_id = c.id) <> cardinality(c.numbers)
    union all
    select concat_ws(' ', 'qualification', q.activity_id, q.user_id, q.claim_id, c.status) from largesse.qualification q join largesse.claim c on c.activity_id = q.activity_id and c.id = q.claim_id
     where c.status in ('cancelled', 'expired', 'failed', 'rolled_back')
    union all
    select concat_ws(' ', 'returned points of', c.activity_id, c.id, c.status, sum(e.amount)) from largesse.claim c join largesse.points_entry e on e.activity_id = c.activity_id and e.claim_id = c.id
     group by c.activity_id, c.id, c.status, c.points having sum(e.amount) <> case when c.status in ('issuing', 'succeeded') then - c.points else 0 end) t
$$;
