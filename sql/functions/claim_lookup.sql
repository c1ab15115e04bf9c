-- SPDX-License-Identifier: Apache-2.0
-- What memory would refuse is looked up here first: an accepted click is a replay for ever.
-- Parameters: i_activity_id and one array element per request. Result: a row per request (ord from 1), verdict REPLAYED (detail = the
-- claim), BIZ_ID_REUSED or UNKNOWN; and row 0 with the activity's status, remaining stock and the database's instant.
-- Locks: none; read only. Errors: none.
create or replace function largesse.claim_lookup(
  i_activity_id bigint, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[])
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_activity record;
begin
  select a.code, a.status, sum(s.remaining)::bigint as remaining into v_activity
    from largesse.activity a left join largesse.stock s on s.activity_id = a.id
    where a.id = i_activity_id group by a.id;
  ord := 0; verdict := v_activity.status; claim_id := v_activity.remaining; at := largesse.clock_now();
  return next;
  return query
    select r.ord::int,
           case when k.id is null then 'UNKNOWN'
                when (k.user_id, k.quantity) = (r.user_id, r.quantity) and k.channel is not distinct from r.channel then 'REPLAYED'
                else 'BIZ_ID_REUSED' end,
           k.id, k.status, k.created_at,
           case when (k.user_id, k.quantity) = (r.user_id, r.quantity) and k.channel is not distinct from r.channel
                then largesse.claim_json(k.row, v_activity.code) end
      from unnest(i_biz_ids, i_user_ids, i_quantities, i_channels) with ordinality as r(biz_id, user_id, quantity, channel, ord)
      left join lateral (
        select c.id, c.user_id, c.quantity, c.channel, c.status, c.created_at, c as row
          from largesse.claim c where c.activity_id = i_activity_id and c.biz_id = r.biz_id limit 1) k on true
      order by r.ord;
end $$;
