-- SPDX-License-Identifier: Apache-2.0
-- Creates an activity (as draft) or changes one, under the rules of what may change when.
-- Parameters: i_doc: the activity as the API and event files give it, shape, types and what goes together already checked by the caller: code, name, kind, startAt,
-- endAt, timeZone, eventCode, venue, attributes, rewardCode, stock {total or null, segments} (kind number: missing or without total: its numbers are its stock),
-- limits [{count, period}] (missing: one in total), needsQualification, eligibility, channels, exclusiveGroup, pointsCost, price {amount, currency},
-- paymentProvider, holdFor, latePayment, onRefused, signUpAgain, waitingList {max, acceptWithin}, rateLimit, intake, status (only as it is now); i_actor; i_version (ETag; null: any); i_reason.
-- Result: outcome created | updated | unchanged | a refusal's code; detail for people, beginning with the path at fault; changed: the members that
-- changed; version. Locks: the activity, then its stock rows; an advisory lock when partitions are made. Errors: none.
create or replace function largesse.activity_put(i_doc jsonb, i_actor text, i_version bigint, i_reason text default null)
returns table (outcome text, detail text, changed text[], version bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now    timestamptz := largesse.clock_now();
  v_old    largesse.activity;
  v_new    largesse.activity := largesse.activity_from_doc(i_doc);
  v_limits jsonb := coalesce(i_doc -> 'limits', '[{"count": 1, "period": "total"}]');
  v_now_total bigint;
  v_adjust record;
begin
  outcome := 'INVALID_REQUEST';
  detail := largesse.activity_fault(i_doc, v_new, v_limits);
  if detail is not null then return next; return; end if;

  perform pg_advisory_xact_lock(hashtextextended('largesse.activity.' || v_new.code, 0));
  select * into v_old from largesse.activity a where a.code = v_new.code for no key update;
  if not found then
    if i_version is not null then
      outcome := 'STALE'; detail := 'the activity does not exist'; return next; return;
    end if;
    if i_doc ->> 'status' <> 'draft' then
      detail := 'status: a new activity is a draft'; return next; return;
    end if;
    if exists (select from largesse.archive_month m where m.month = largesse.partition_month(v_new.end_at)) then
      detail := 'endAt: the month is archived'; return next; return;
    end if;
    perform largesse.activity_create(v_new, i_doc, v_limits, i_actor);
    perform largesse.log_append(i_actor, 'activity.put', v_new.code, i_reason, jsonb_build_object('created', true, 'to', i_doc));
    outcome := 'created'; version := 1; return next; return;
  end if;

  version := v_old.version;
  if v_old.version <> i_version then
    outcome := 'STALE'; detail := 'the activity has changed since; read it again'; return next; return;
  end if;
  if v_old.status <> i_doc ->> 'status' then
    outcome := 'STATE_CONFLICT'; detail := format('status: is %s; publish, pause, resume, finish and archive change it', v_old.status); return next; return;
  end if;
  if v_old.reward_id is not null and exists (select from largesse.reward r where r.id = v_old.reward_id and r.code = i_doc ->> 'rewardCode') then
    v_new.reward_id := v_old.reward_id;
  end if;
  perform 1 from largesse.stock s where s.activity_id = v_old.id order by s.segment for update;
  v_now := largesse.clock_now();  -- no claim is judged from here to the commit: what has not started now cannot be claimed under the old window
  select v_old.stock_total + coalesce(sum(d.by), 0) into v_now_total from largesse.stock_adjustment d where d.activity_id = v_old.id;
  changed := largesse.activity_changes(v_old, v_new, i_doc, v_now_total, v_limits);
  if changed = '{}' then
    outcome := 'unchanged'; return next; return;
  end if;
  outcome := 'STATE_CONFLICT';
  detail := largesse.activity_change_fault(v_old, v_new, v_now_total, v_limits, changed, v_now);
  if detail is not null then return next; return; end if;

  if changed && '{stock.total,stock.segments}' then
    if v_old.status = 'draft' then
      if v_new.stock_follows_numbers then
        select count(*) into v_new.stock_total from largesse.activity_number n where n.activity_id = v_old.id;
      end if;
      perform largesse.stock_lay_out(v_old.id, v_new.stock_total, v_new.segments);
      delete from largesse.stock_adjustment d where d.activity_id = v_old.id;
      update largesse.activity a set stock_total = v_new.stock_total where a.id = v_old.id;
    else
      select * into v_adjust from largesse.stock_adjust(v_old.code, 'version/' || (v_old.version + 1), v_new.stock_total - v_now_total, 'changed total', i_actor, true) d;
      if v_adjust.outcome <> 'ok' then
        outcome := v_adjust.outcome; detail := 'stock.total: ' || v_adjust.detail; return next; return;
      end if;
    end if;
  end if;
  v_new.payment_id := largesse.payment_terms_put(v_old.code, i_doc);
  if 'limits' = any (changed) then perform largesse.activity_limits_replace(v_old.id, v_limits); end if;
  update largesse.activity a
     set name = v_new.name, kind = v_new.kind, start_at = v_new.start_at, end_at = v_new.end_at,
         latest_end_at = case v_old.status when 'draft' then v_new.end_at else greatest(a.latest_end_at, v_new.end_at) end, time_zone = v_new.time_zone,
         event_code = v_new.event_code, venue = v_new.venue, attributes = v_new.attributes, reward_id = v_new.reward_id,
         channels = v_new.channels, eligibility = v_new.eligibility, needs_qualification = v_new.needs_qualification, exclusive_group = v_new.exclusive_group,
         points_cost = v_new.points_cost, payment_id = v_new.payment_id, hold_for = v_new.hold_for, late_payment = v_new.late_payment,
         on_refused = v_new.on_refused, sign_up_again = v_new.sign_up_again, waiting_max = v_new.waiting_max, accept_within = v_new.accept_within,
         rate_limit = v_new.rate_limit, intake = v_new.intake, segments = v_new.segments, stock_follows_numbers = v_new.stock_follows_numbers,
         version = a.version + 1, changed_at = v_now
   where a.id = v_old.id returning a.version into version;
  perform largesse.log_append(i_actor, 'activity.put', v_old.code, i_reason, jsonb_build_object('changed', to_jsonb(changed), 'version', version,
    'to', (select coalesce(jsonb_object_agg(m.name, i_doc -> m.name), '{}') from (select distinct split_part(c, '.', 1) from unnest(changed) c) m(name))));
  outcome := 'updated'; return next;
end $$;

-- The rows of a new activity. Parameters: i_new: activity_from_doc; i_doc; i_limits; i_actor. Result: none. Locks: an advisory lock when partitions are made;
-- the caller holds the one on the code. Errors: none.
create or replace function largesse.activity_create(i_new largesse.activity, i_doc jsonb, i_limits jsonb, i_actor text) returns void
language plpgsql volatile
set search_path = largesse, pg_temp
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  perform largesse.partitions_ensure(largesse.partition_month(i_new.end_at));
  insert into largesse.activity_month as m (month, last_id) values (largesse.partition_month(i_new.end_at), 1)
    on conflict (month) do update set last_id = m.last_id + 1
    returning m.month * 1000000::bigint + m.last_id into i_new.id;
  if i_new.stock_follows_numbers then i_new.stock_total := 0; end if;
  insert into largesse.activity (
      id, code, name, kind, status, start_at, end_at, latest_end_at, time_zone, event_code, venue, attributes, reward_id, stock_total, created_at, changed_at,
      channels, eligibility, needs_qualification, exclusive_group, points_cost, payment_id, hold_for, late_payment, on_refused, sign_up_again, waiting_max,
      accept_within, rate_limit, intake, segments, stock_follows_numbers)
    values (i_new.id, i_new.code, i_new.name, i_new.kind, 'draft', i_new.start_at, i_new.end_at, i_new.end_at, i_new.time_zone, i_new.event_code, i_new.venue,
      i_new.attributes, i_new.reward_id, i_new.stock_total, v_now, v_now, i_new.channels, i_new.eligibility, i_new.needs_qualification, i_new.exclusive_group,
      i_new.points_cost, largesse.payment_terms_put(i_new.code, i_doc), i_new.hold_for, i_new.late_payment, i_new.on_refused, i_new.sign_up_again,
      i_new.waiting_max, i_new.accept_within, i_new.rate_limit, i_new.intake, i_new.segments, i_new.stock_follows_numbers);
  perform largesse.stock_lay_out(i_new.id, i_new.stock_total, i_new.segments);
  insert into largesse.activity_limit select i_new.id, l ->> 'period', (l ->> 'count')::bigint from jsonb_array_elements(i_limits) l;
  insert into largesse.activity_history (activity_id, to_status, actor, at) values (i_new.id, 'draft', i_actor, v_now);
end $$;
