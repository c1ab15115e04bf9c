-- SPDX-License-Identifier: Apache-2.0
-- The careful half of claim_submit: one request after the other, for the last units, repeated users and repeated bizIds.
-- Parameters, result: as claim_submit_together. Locks: the caller holds the stock row; usage rows of each user, claims.
-- Errors: 40001 when a guard did not hold although the row had just been locked (repeat the transaction).
create or replace function largesse.claim_submit_in_order(
  i_activity_id bigint, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[],
  i_now timestamptz, i_sweep_at timestamptz, i_status text, i_reward_id int,
  i_periods text[], i_starts date[], i_maxima bigint[], i_resets timestamptz[])
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_known     largesse.claim;
  v_code      text := (select a.code from largesse.activity a where a.id = i_activity_id);
  v_over      record;
  v_remaining bigint;
  v_taken     int;
begin
  select s.remaining into v_remaining from largesse.stock s where s.activity_id = i_activity_id and s.segment = 0;
  at := i_now;
  for i in 1 .. cardinality(i_biz_ids) loop
    ord := i; claim_id := null; status := null; detail := null;
    select * into v_known from largesse.claim c where c.activity_id = i_activity_id and c.biz_id = i_biz_ids[i];
    if found then
      verdict := case when v_known.user_id = i_user_ids[i] and v_known.quantity = i_quantities[i]
                       and v_known.channel is not distinct from i_channels[i] then 'REPLAYED' else 'BIZ_ID_REUSED' end;
      claim_id := v_known.id; status := v_known.status;
      detail := case verdict when 'REPLAYED' then largesse.claim_json(v_known, v_code) end;
      return next; continue;
    end if;

    select l.period, coalesce(u.used, 0) as used, l.max_count, l.resets_at into v_over
      from unnest(i_periods, i_starts, i_maxima, i_resets) with ordinality as l(period, start, max_count, resets_at, n)
      left join largesse.usage u
        on u.activity_id = i_activity_id and u.user_id = i_user_ids[i] and u.period = l.period and u.period_start = l.start
      where coalesce(u.used, 0) + i_quantities[i] > l.max_count order by l.n limit 1;
    if found then
      verdict := 'LIMIT_REACHED';
      detail := largesse.limit_json(v_over.period, v_over.max_count, v_over.used, v_over.resets_at);
      return next; continue;
    end if;

    if v_remaining < i_quantities[i] then
      verdict := 'SOLD_OUT';
      detail := json_build_object('remaining', v_remaining)::text;
      return next; continue;
    end if;

    insert into largesse.usage as u (activity_id, user_id, period, period_start, used, max_used)
      select i_activity_id, i_user_ids[i], l.period, l.start, i_quantities[i], l.max_count
        from unnest(i_periods, i_starts, i_maxima) as l(period, start, max_count)
      on conflict (activity_id, user_id, period, period_start) do update
        set used = u.used + excluded.used, max_used = excluded.max_used
        where u.used + excluded.used <= excluded.max_used;
    get diagnostics v_taken = row_count;
    perform largesse.claim_guard(v_taken = cardinality(i_periods));
    update largesse.stock s set remaining = s.remaining - i_quantities[i], taken = s.taken + i_quantities[i]
      where s.activity_id = i_activity_id and s.segment = 0 and (s.remaining is null or s.remaining >= i_quantities[i])
      returning s.remaining into v_remaining;
    perform largesse.claim_guard(found);
    insert into largesse.claim (activity_id, user_id, created_at, updated_at, next_attempt_at, quantity, reward_id, biz_id, status, step, channel)
      values (i_activity_id, i_user_ids[i], i_now, i_now, i_sweep_at, i_quantities[i], i_reward_id, i_biz_ids[i], 'issuing', 'deliver', i_channels[i])
      returning id into claim_id;
    verdict := 'ACCEPTED'; status := 'issuing';
    return next;
  end loop;
  ord := 0; verdict := i_status; claim_id := v_remaining; status := null; detail := null;
  return next;
end $$;
