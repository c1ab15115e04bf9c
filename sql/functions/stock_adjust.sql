-- SPDX-License-Identifier: Apache-2.0
-- Changes the stock of a live activity by a signed number, once per key; a reduction takes only free units.
-- Parameters: i_code, i_key (idempotency key within the activity), i_by, i_reason, i_actor.
-- Result: outcome 'ok', 'replayed' (the first answer), or a refusal's code; detail; total and remaining as the answer shows them.
-- Locks: the activity, then its stock row (as activity_put does). Errors: none.
create or replace function largesse.stock_adjust(i_code text, i_key text, i_by bigint, i_reason text, i_actor text)
returns table (outcome text, detail text, total bigint, remaining bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp
as $$
declare
  v_act   largesse.activity;
  v_stock largesse.stock;
  v_old   largesse.stock_adjustment;
begin
  select * into v_act from largesse.activity a where a.code = i_code for no key update;
  if not found then
    return query select 'ACTIVITY_NOT_FOUND', 'there is no activity ' || i_code, null::bigint, null::bigint; return;
  end if;
  select * into v_stock from largesse.stock s where s.activity_id = v_act.id and s.segment = 0 for update;
  select * into v_old from largesse.stock_adjustment d where d.activity_id = v_act.id and d.key = i_key;
  if found then
    if v_old."by" <> i_by then  -- quoted: BY is a word of plpgsql
      return query select 'BIZ_ID_REUSED', 'this key was used for an adjustment by ' || v_old."by", null::bigint, null::bigint; return;
    end if;
    return query select 'replayed', null::text, v_old.total, v_old.remaining; return;
  end if;
  if v_stock.remaining is null then
    return query select 'STATE_CONFLICT', 'the stock of this activity is unlimited', null::bigint, null::bigint; return;
  end if;
  if v_act.status in ('finished', 'archived') then
    return query select 'STATE_CONFLICT', 'the activity is ' || v_act.status, null::bigint, null::bigint; return;
  end if;
  if v_stock.remaining + i_by < 0 then
    return query select 'STOCK_IN_USE', format('only %s units are free', v_stock.remaining), null::bigint, v_stock.remaining; return;
  end if;
  update largesse.stock s set remaining = s.remaining + i_by where s.activity_id = v_act.id and s.segment = 0
    returning s.* into v_stock;
  total := v_act.stock_total + i_by + coalesce((select sum(d.by) from largesse.stock_adjustment d where d.activity_id = v_act.id), 0);
  insert into largesse.stock_adjustment (activity_id, key, by, reason, actor, at, total, remaining)
    values (v_act.id, i_key, i_by, i_reason, i_actor, largesse.clock_now(), total, v_stock.remaining);
  update largesse.activity a set version = a.version + 1, changed_at = largesse.clock_now() where a.id = v_act.id;  -- the total is part of what the ETag stands for
  outcome := 'ok'; remaining := v_stock.remaining;
  return next;
end $$;
