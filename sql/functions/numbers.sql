-- SPDX-License-Identifier: Apache-2.0
-- The set of numbers of an activity.

-- Adds numbers; those that are there already stay as they are. Where the stock follows the numbers, each new one is a unit of stock: of the total while the
-- activity is a draft, by an adjustment afterwards. Repeating it adds nothing, so it needs no key.
-- Parameters: i_code; either i_numbers, or all of i_from … i_to; i_actor, i_reason. Result: one row: outcome 'ok' or a refusal's code; detail; how many are new, and how
-- many were there or named twice. Locks: an advisory lock of the set; after the insert, which nobody can see or wait for yet, the activity and its stock
-- row, so that claims never wait for a long import. Errors: 23514 for a number out of range.
create or replace function largesse.numbers_add(i_code text, i_numbers bigint[], i_from bigint, i_to bigint, i_actor text, i_reason text default null)
returns table (outcome text, detail text, inserted bigint, duplicates bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set work_mem = '64MB'
as $$
declare
  v_act       largesse.activity;
  v_total     bigint;
  v_remaining bigint;
begin
  select * into v_act from largesse.activity a where a.code = i_code;
  if not found then
    outcome := 'ACTIVITY_NOT_FOUND'; detail := 'there is no activity ' || i_code; return next; return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('largesse.numbers.' || v_act.id, 0));
  begin
    insert into largesse.activity_number (activity_id, number)
      select v_act.id, n.number
        from (select unnest(i_numbers) as number union all select generate_series(i_from, i_to)) n
       where v_act.kind = 'number' order by n.number
      on conflict do nothing;
    get diagnostics inserted = row_count;
    select * into v_act from largesse.activity a where a.id = v_act.id for no key update;
    if v_act.kind <> 'number' then
      detail := 'only an activity of kind number has numbers';
    elsif v_act.status in ('finished', 'archived') then
      detail := 'the activity is ' || v_act.status;
    end if;
    if detail is not null then raise exception 'refused' using errcode = 'LG409'; end if;
  exception when sqlstate 'LG409' then  -- only what was inserted is undone
    outcome := 'STATE_CONFLICT'; inserted := null; return next; return;
  end;
  outcome := 'ok';
  duplicates := coalesce(cardinality(i_numbers), 0) + coalesce(i_to - i_from + 1, 0) - inserted;
  if v_act.stock_follows_numbers and inserted > 0 then
    update largesse.stock s set remaining = coalesce(s.remaining, 0) + inserted where s.activity_id = v_act.id and s.segment = 0
      returning s.remaining into strict v_remaining;
    if v_act.status <> 'draft' then
      v_total := v_act.stock_total + inserted + coalesce((select sum(d.by) from largesse.stock_adjustment d where d.activity_id = v_act.id), 0);
      insert into largesse.stock_adjustment (activity_id, key, by, reason, actor, at, total, remaining)
        values (v_act.id, 'numbers/' || (v_act.version + 1), inserted, 'numbers added', i_actor, largesse.clock_now(), v_total, v_remaining);
    end if;
    update largesse.activity a
       set stock_total = case v_act.status when 'draft' then coalesce(a.stock_total, 0) + inserted else a.stock_total end,
           version = a.version + 1, changed_at = largesse.clock_now()
     where a.id = v_act.id;
  end if;
  if inserted > 0 then
    perform largesse.log_append(i_actor, 'numbers.add', i_code, i_reason,
      jsonb_strip_nulls(jsonb_build_object('from', i_from, 'to', i_to, 'inserted', inserted, 'duplicates', duplicates)));
  end if;
  return next;
end $$;

-- A number as lists show it. Parameters: the row. Result: JSON text. Locks, errors: none.
create or replace function largesse.number_doc(i_number largesse.activity_number) returns text
language sql stable
as $$
  select format('{"number":%s,"status":"%s"%s}', i_number.number, i_number.status,
                ',"claimId":"' || i_number.activity_id || '-' || i_number.claim_id || '"')
$$;

-- Numbers in their order. Parameters: i_code; i_status (null: any); i_after: the last one seen (-1 to begin); i_limit. Result: number and JSON text.
-- Locks, errors: none.
create or replace function largesse.numbers_list(i_code text, i_status text, i_after bigint, i_limit int)
returns table (number bigint, doc text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_id bigint := (select a.id from largesse.activity a where a.code = i_code);
begin
  if i_status = 'available' then  -- said literally, so that the index of the free ones serves
    return query select n.number, largesse.number_doc(n) from largesse.activity_number n
      where n.activity_id = v_id and n.status = 'available' and n.number > i_after order by n.number limit i_limit;
  elsif i_status is not null then  -- so that the index of the others serves
    return query select n.number, largesse.number_doc(n) from largesse.activity_number n
      where n.activity_id = v_id and n.claim_id is not null and n.status = i_status and n.number > i_after order by n.number limit i_limit;
  else
    return query select n.number, largesse.number_doc(n) from largesse.activity_number n
      where n.activity_id = v_id and n.number > i_after order by n.number limit i_limit;
  end if;
end $$;

-- Free numbers at random: those behind a random place in the order of `pick`, and around its end. Parameters: i_code; i_count: at most so many.
-- Result: number and JSON text, in random order. Locks, errors: none.
create or replace function largesse.numbers_random(i_code text, i_count int)
returns table (number bigint, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_sort = off set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_id   bigint := (select a.id from largesse.activity a where a.code = i_code);
  v_from double precision := random();
begin
  return query
    select f.number, largesse.number_doc(f)
      from ((select n.* from largesse.activity_number n
              where n.activity_id = v_id and n.status = 'available' and n.pick >= v_from order by n.pick limit i_count)
            union all
            (select n.* from largesse.activity_number n
              where n.activity_id = v_id and n.status = 'available' and n.pick < v_from order by n.pick limit i_count)) f
     limit i_count;
end $$;
