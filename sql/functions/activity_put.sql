-- SPDX-License-Identifier: Apache-2.0
-- Creates an activity (as draft) or changes one, under the rules of what may change when.
-- Parameters: i_doc: the activity as the API and event files give it, shape and types already checked by the caller: code, name, kind, startAt, endAt,
-- timeZone, eventCode, venue, attributes, rewardCode, stock {total or null}, limits [{count, period}] (missing: one in total); i_actor; i_version (ETag; null: any).
-- Result: outcome created | updated | unchanged | a refusal's code; detail for people, beginning with the path at fault; changed: the members that
-- changed; version. Locks: the activity, then its stock row; an advisory lock when partitions are made. Errors: 22023 unknown time zone.
create or replace function largesse.activity_put(i_doc jsonb, i_actor text, i_version bigint)
returns table (outcome text, detail text, changed text[], version bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp
as $$
declare
  v_now    timestamptz := largesse.clock_now();
  v_old    largesse.activity;
  v_new    largesse.activity;
  v_limits jsonb := coalesce(i_doc -> 'limits', '[{"count": 1, "period": "total"}]');
  v_total  bigint := (i_doc -> 'stock' ->> 'total')::bigint;
  v_now_total bigint;
  v_adjust record;
begin
  outcome := 'INVALID_REQUEST';
  if not largesse.time_zone_is_known(i_doc ->> 'timeZone') then
    detail := 'timeZone: not an IANA time zone'; return next; return;
  end if;
  if (select count(distinct l ->> 'period') from jsonb_array_elements(v_limits) l) <> jsonb_array_length(v_limits) then
    detail := 'limits: a period is named twice'; return next; return;
  end if;
  v_new.code := i_doc ->> 'code'; v_new.name := i_doc ->> 'name'; v_new.kind := i_doc ->> 'kind';
  v_new.start_at := i_doc ->> 'startAt'; v_new.end_at := i_doc ->> 'endAt'; v_new.time_zone := i_doc ->> 'timeZone';
  v_new.event_code := i_doc ->> 'eventCode'; v_new.venue := i_doc ->> 'venue'; v_new.attributes := coalesce(i_doc -> 'attributes', '{}');
  if v_new.end_at <= v_new.start_at then
    detail := 'endAt: must be after startAt'; return next; return;
  end if;
  if v_new.event_code is not null and not exists (select from largesse.event e where e.code = v_new.event_code) then
    detail := 'eventCode: there is no event ' || v_new.event_code; return next; return;
  end if;
  select max(r.id) into v_new.reward_id from largesse.reward r where r.code = i_doc ->> 'rewardCode';
  if v_new.reward_id is null and (v_new.kind = 'reward' or i_doc ? 'rewardCode') then
    detail := 'rewardCode: there is no such reward'; return next; return;
  end if;

  perform pg_advisory_xact_lock(hashtextextended('largesse.activity.' || v_new.code, 0));
  select * into v_old from largesse.activity a where a.code = v_new.code for no key update;
  if not found then
    if i_version is not null then
      outcome := 'STALE'; detail := 'the activity does not exist'; return next; return;
    end if;
    perform largesse.partitions_ensure(largesse.partition_month(v_new.end_at));
    insert into largesse.activity_month as m (month, last_id) values (largesse.partition_month(v_new.end_at), 1)
      on conflict (month) do update set last_id = m.last_id + 1
      returning m.month * 1000000::bigint + m.last_id into v_new.id;
    insert into largesse.activity (id, code, name, kind, status, start_at, end_at, latest_end_at, time_zone, event_code, venue, attributes, reward_id, stock_total, created_at, changed_at)
      values (v_new.id, v_new.code, v_new.name, v_new.kind, 'draft', v_new.start_at, v_new.end_at, v_new.end_at, v_new.time_zone, v_new.event_code,
              v_new.venue, v_new.attributes, v_new.reward_id, v_total, v_now, v_now);
    insert into largesse.stock (activity_id, remaining) values (v_new.id, v_total);
    insert into largesse.activity_limit select v_new.id, l ->> 'period', (l ->> 'count')::bigint from jsonb_array_elements(v_limits) l;
    insert into largesse.activity_history (activity_id, to_status, actor, at) values (v_new.id, 'draft', i_actor, v_now);
    outcome := 'created'; version := 1; return next; return;
  end if;

  version := v_old.version;
  if v_old.version <> i_version then
    outcome := 'STALE'; detail := 'the activity has changed since; read it again'; return next; return;
  end if;
  if v_old.reward_id is not null and exists (select from largesse.reward r where r.id = v_old.reward_id and r.code = i_doc ->> 'rewardCode') then
    v_new.reward_id := v_old.reward_id;
  end if;
  perform 1 from largesse.stock s where s.activity_id = v_old.id order by s.segment for update;
  v_now := largesse.clock_now();  -- no claim is judged from here to the commit: what has not started now cannot be claimed under the old window
  select v_old.stock_total + coalesce(sum(d.by), 0) into v_now_total from largesse.stock_adjustment d where d.activity_id = v_old.id;
  changed := array_remove(array[
    case when v_new.name <> v_old.name then 'name' end, case when v_new.kind <> v_old.kind then 'kind' end,
    case when v_new.start_at <> v_old.start_at then 'startAt' end, case when v_new.end_at <> v_old.end_at then 'endAt' end,
    case when v_new.time_zone <> v_old.time_zone then 'timeZone' end,
    case when v_new.event_code is distinct from v_old.event_code then 'eventCode' end,
    case when v_new.venue is distinct from v_old.venue then 'venue' end,
    case when v_new.attributes <> v_old.attributes then 'attributes' end,
    case when v_new.reward_id is distinct from v_old.reward_id then 'rewardCode' end,
    case when v_total is distinct from v_now_total then 'stock.total' end,
    case when exists ((select l ->> 'period', (l ->> 'count')::bigint from jsonb_array_elements(v_limits) l
                         except select l.period, l.max_count from largesse.activity_limit l where l.activity_id = v_old.id)
                      union all
                      (select l.period, l.max_count from largesse.activity_limit l where l.activity_id = v_old.id
                         except select l ->> 'period', (l ->> 'count')::bigint from jsonb_array_elements(v_limits) l)) then 'limits' end], null);
  if changed = '{}' then
    outcome := 'unchanged'; return next; return;
  end if;
  outcome := 'STATE_CONFLICT';
  if v_old.status in ('finished', 'archived') or v_old.status <> 'draft' and v_now >= v_old.end_at then
    detail := changed[1] || ': the session has ended'; return next; return;
  end if;
  if v_old.status <> 'draft' then
    if 'kind' = any (changed) then detail := 'kind: cannot change after publishing'; return next; return; end if;
    if 'timeZone' = any (changed) then detail := 'timeZone: cannot change after publishing'; return next; return; end if;
    if 'startAt' = any (changed) and v_now >= v_old.start_at then
      detail := 'startAt: cannot change once the session runs'; return next; return;
    end if;
    if (v_total is null) <> (v_now_total is null) then
      detail := 'stock.total: limited and unlimited cannot be exchanged after publishing'; return next; return;
    end if;
  end if;

  if 'stock.total' = any (changed) then
    if v_old.status = 'draft' then
      update largesse.stock s set remaining = v_total where s.activity_id = v_old.id;
      delete from largesse.stock_adjustment d where d.activity_id = v_old.id;
      update largesse.activity a set stock_total = v_total where a.id = v_old.id;
    else
      select * into v_adjust from largesse.stock_adjust(v_old.code, 'version/' || (v_old.version + 1), v_total - v_now_total, 'changed total', i_actor) d;
      if v_adjust.outcome <> 'ok' then
        outcome := v_adjust.outcome; detail := 'stock.total: ' || v_adjust.detail; return next; return;
      end if;
    end if;
  end if;
  if 'limits' = any (changed) then perform largesse.activity_limits_replace(v_old.id, v_limits); end if;
  update largesse.activity a
     set name = v_new.name, kind = v_new.kind, start_at = v_new.start_at, end_at = v_new.end_at,
         latest_end_at = case v_old.status when 'draft' then v_new.end_at else greatest(a.latest_end_at, v_new.end_at) end, time_zone = v_new.time_zone,
         event_code = v_new.event_code, venue = v_new.venue, attributes = v_new.attributes, reward_id = v_new.reward_id,
         version = a.version + 1, changed_at = v_now
   where a.id = v_old.id returning a.version into version;
  outcome := 'updated'; return next;
end $$;
