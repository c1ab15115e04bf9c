-- SPDX-License-Identifier: Apache-2.0
-- Changes the stock of a live activity by a signed number, once per key; a reduction takes only free units, of any segment. Who waits moves up at once.
-- Parameters: i_code, i_key (idempotency key within the activity), i_by, i_reason, i_actor; i_is_part: of another act that is written down as a whole.
-- Result: outcome 'ok', 'replayed' (the first answer), or a refusal's code; detail; total and remaining as the answer shows them.
-- Locks: the activity, then its stock rows (as activity_put does); where units are added, then as waiting_promote. Errors: 40P01, 40001 (repeat).
create or replace function largesse.stock_adjust(i_code text, i_key text, i_by bigint, i_reason text, i_actor text, i_is_part boolean default false)
returns table (outcome text, detail text, total bigint, remaining bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_act  largesse.activity;
  v_free bigint;
  v_old  largesse.stock_adjustment;
begin
  select * into v_act from largesse.activity a where a.code = i_code for no key update;
  if not found then
    return query select 'ACTIVITY_NOT_FOUND', 'there is no activity ' || i_code, null::bigint, null::bigint; return;
  end if;
  perform 1 from largesse.stock s where s.activity_id = v_act.id order by s.segment for update;
  select * into v_old from largesse.stock_adjustment d where d.activity_id = v_act.id and d.key = i_key;
  if found then
    if v_old."by" <> i_by then  -- quoted: BY is a word of plpgsql
      return query select 'BIZ_ID_REUSED', 'this key was used for an adjustment by ' || v_old."by", null::bigint, null::bigint; return;
    end if;
    return query select 'replayed', null::text, v_old.total, v_old.remaining; return;
  end if;
  select sum(s.remaining)::bigint into v_free from largesse.stock s where s.activity_id = v_act.id;
  if v_free is null then
    return query select 'STATE_CONFLICT', 'the stock of this activity is unlimited', null::bigint, null::bigint; return;
  end if;
  if v_act.status in ('finished', 'archived') then
    return query select 'STATE_CONFLICT', 'the activity is ' || v_act.status, null::bigint, null::bigint; return;
  end if;
  if v_free + i_by < 0 then
    return query select 'STOCK_IN_USE', format('only %s units are free', v_free), null::bigint, v_free; return;
  end if;
  perform largesse.stock_change(v_act.id, i_by);
  total := v_act.stock_total + i_by + coalesce((select sum(d.by) from largesse.stock_adjustment d where d.activity_id = v_act.id), 0);
  insert into largesse.stock_adjustment (activity_id, key, by, reason, actor, at, total, remaining)
    values (v_act.id, i_key, i_by, i_reason, i_actor, largesse.clock_now(), total, v_free + i_by);
  if i_by > 0 then perform largesse.waiting_promote(v_act.id, 100); end if;
  update largesse.activity a set version = a.version + 1, changed_at = largesse.clock_now() where a.id = v_act.id;  -- the total is part of what the ETag stands for
  -- What the answer says is free, for replays too, is what those who waited have left.
  update largesse.stock_adjustment d
     set remaining = (select sum(s.remaining) from largesse.stock s where s.activity_id = v_act.id)
   where d.activity_id = v_act.id and d.key = i_key returning d.remaining into remaining;
  if not i_is_part then
    perform largesse.log_append(i_actor, 'stock.adjust', i_code, i_reason, jsonb_build_object('key', i_key, 'by', i_by, 'total', total, 'remaining', remaining));
  end if;
  outcome := 'ok';
  return next;
end $$;

-- Adds free units, the same to each segment, or takes them away where most are. Parameters: i_activity_id, i_by. Result: none.
-- Locks: the caller holds all stock rows. Errors: 23514 when fewer are free.
create or replace function largesse.stock_change(i_activity_id bigint, i_by bigint) returns void
language sql volatile
set search_path = largesse, pg_temp set jit = off
as $$
  with room as (
    select s.segment, s.remaining, count(*) over () as segments, row_number() over (order by s.remaining, s.segment) as place,
           sum(s.remaining) over (order by s.remaining desc, s.segment) - s.remaining as before
      from largesse.stock s where s.activity_id = i_activity_id
  ), share as (
    select r.segment, case when i_by > 0 then i_by / r.segments + case when r.place <= i_by % r.segments then 1 else 0 end
                           else - least(r.remaining, greatest(0, - i_by - r.before)) end as by
      from room r
  )
  update largesse.stock s set remaining = s.remaining + share.by from share where s.activity_id = i_activity_id and s.segment = share.segment and share.by <> 0
$$;
