-- SPDX-License-Identifier: Apache-2.0
-- What memory would refuse is looked up here first: an accepted click is a replay for ever. And who has a place, or waits for one, where an activity is open but
-- has no place left, is told so.
-- Parameters: i_activity_id and one array element per request; i_number_ords, i_numbers: as claim_submit. Result: a row per request (ord from 1), verdict REPLAYED
-- (detail = the claim), BIZ_ID_REUSED, ALREADY_REGISTERED (detail = {claim}) or UNKNOWN; and row 0 with the activity's status, remaining stock and the
-- database's instant. Locks: none; read only. Errors: none.
create or replace function largesse.claim_lookup(
  i_activity_id bigint, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[],
  i_number_ords int[] default null, i_numbers bigint[] default null)
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_activity record;
  v_terms    largesse.claim_terms;
  v_sets     text[] := largesse.claim_number_sets(cardinality(i_biz_ids), i_number_ords, i_numbers);
  v_is_open_for_places boolean;
begin
  select a.code, a.status, a.kind, sum(s.remaining)::bigint as remaining, sum(s.waiting)::bigint as waiting into v_activity
    from largesse.activity a left join largesse.stock s on s.activity_id = a.id
    where a.id = i_activity_id group by a.id;
  ord := 0; verdict := v_activity.status; claim_id := v_activity.remaining; at := largesse.clock_now();
  return next;
  -- An accepted click is a replay for ever, also where its month is archived and detached.
  if v_activity.status = 'archived' and largesse.archive_is_away(i_activity_id) then
    return query
      select r.ord::int,
             case when (k.row).id is null then 'UNKNOWN'
                  when largesse.request_is_same((k.row).user_id, (k.row).quantity, (k.row).channel, (k.row).numbers, r.user_id, r.quantity, r.channel, r.number_set::bigint[])
                  then 'REPLAYED' else 'BIZ_ID_REUSED' end,
             (k.row).id, (k.row).status, (k.row).created_at, case when (k.row).id is not null then largesse.claim_json(k.row, v_activity.code) end
        from unnest(i_biz_ids, i_user_ids, i_quantities, i_channels, v_sets) with ordinality as r(biz_id, user_id, quantity, channel, number_set, ord)
       cross join lateral (select largesse.archive_claim(i_activity_id, null, r.biz_id) as row offset 0) k
       order by r.ord;
    return;
  end if;
  v_is_open_for_places := false;
  if v_activity.kind = 'registration' then
    select * into v_terms from largesse.claim_terms(i_activity_id, at, '0');
    v_is_open_for_places := largesse.claim_open_state(v_terms, null) is null;
  end if;
  return query
    select r.ord::int,
           case when k.id is null then coalesce(j.refusal, 'UNKNOWN') when k.is_same then 'REPLAYED' else 'BIZ_ID_REUSED' end,
           k.id, k.status, k.created_at,
           case when k.id is null then j.detail when k.is_same then largesse.claim_json(k.row, v_activity.code) end
      from unnest(i_biz_ids, i_user_ids, i_quantities, i_channels, v_sets) with ordinality as r(biz_id, user_id, quantity, channel, number_set, ord)
      left join lateral (
        select c.id, c.status, c.created_at, c as row,
               largesse.request_is_same(c.user_id, c.quantity, c.channel, c.numbers, r.user_id, r.quantity, r.channel, r.number_set::bigint[]) as is_same
          from largesse.claim c where c.activity_id = i_activity_id and c.biz_id = r.biz_id limit 1) k on true
      left join lateral (
        select j.refusal, j.detail
          from largesse.claim_judge(v_terms, array[r.biz_id], array[r.user_id], array[r.quantity], array[r.channel], null, null, 0, v_activity.waiting, 'take') j
         where v_is_open_for_places and k.id is null and j.refusal = 'ALREADY_REGISTERED') j on true
      order by r.ord;
end $$;
