-- SPDX-License-Identifier: Apache-2.0
-- The rules about who may claim, for a set of requests at once. Right when users, bizIds and numbers are distinct within it and the stock decides the same about
-- all of them: then none of them changes what another is judged by. One request alone always is such a set.
-- In the order of requirements: idempotency, window (of queued requests), limits, the user's other claims (registrations), blocked users, channel, qualification,
-- eligibility, exclusive group, points, numbers, stock. A refusal changes nothing.
-- Parameters: i_terms; the requests, one array element each (i_number_sets as claim_number_sets makes them, i_queued_at as in claim_submit; both may be null);
-- i_segment: where the units are (null: anywhere; all are locked then); i_remaining, i_waiting: what refusals tell; i_decision: take, wait or sold_out.
-- Result: a row per request, as claim_submit. Locks: the caller holds the stock; then as claim_submit. Its caller's settings are in force.
-- Errors: 40001 as claim_submit.
create or replace function largesse.claim_submit_ruled(
  i_terms largesse.claim_terms, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[], i_number_sets text[], i_queued_at timestamptz[],
  i_segment int, i_remaining bigint, i_waiting bigint, i_decision text)
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v        record;
  -- The caller can tell a plain new claim from its request.
  v_is_shown boolean := i_number_sets is not null or i_terms.points_cost is not null or i_decision <> 'take';
  v_status text := case i_decision when 'wait' then 'waiting' else i_terms.status end;
begin
  perform largesse.claim_lock_users(i_terms, i_user_ids);
  select array_agg(j.known_id) as known_ids, array_agg(case when v_is_shown or j.known_id is not null then i_biz_ids[j.ord] end) as shown, array_agg(j.new_id) as new_ids, array_agg(j.refusal) as refusals, array_agg(j.detail) as details,
         count(j.new_id) as accepted, sum(j.quantity) filter (where j.new_id is not null) as quantity
    into v
    from (
      select j.*, case when j.known_id is null and j.refusal is null then nextval('largesse.claim_id_seq') end as new_id
        from largesse.claim_judge(i_terms, i_biz_ids, i_user_ids, i_quantities, i_channels, i_number_sets, i_queued_at, i_remaining, i_waiting, i_decision) j) j;
  if v.accepted > 0 then
    perform largesse.claim_apply(i_terms, v.new_ids, i_biz_ids, i_user_ids, i_quantities, i_channels, i_number_sets, i_queued_at, i_segment, v_status,
                                 v.accepted, v.quantity);
  end if;
  if array_remove(v.shown, null) = '{}' then  -- nobody is to be shown a claim, and none is looked up
    return query
      select r.ord::int, coalesce(r.refusal, 'ACCEPTED'), r.new_id, case when r.new_id is not null then v_status end, coalesce(i_queued_at[r.ord], i_terms.now), r.detail
        from unnest(v.new_ids, v.refusals, v.details) with ordinality as r(new_id, refusal, detail, ord) order by r.ord;
    return;
  end if;
  return query
    select r.ord::int,
           case when r.new_id is not null then 'ACCEPTED' when r.known_id is null then r.refusal when k.is_same then 'REPLAYED' else 'BIZ_ID_REUSED' end,
           coalesce(r.new_id, r.known_id), case when r.new_id is not null then v_status else k.status end, coalesce(i_queued_at[r.ord], i_terms.now),
           case when k.is_same then k.shown else r.detail end
      from unnest(v.new_ids, v.known_ids, v.shown, v.refusals, v.details, i_user_ids, i_quantities, i_channels, i_number_sets)
             with ordinality as r(new_id, known_id, shown, refusal, detail, user_id, quantity, channel, numbers, ord)
      left join lateral (
        select c.status, s.is_same, case when s.is_same then largesse.claim_json(c, i_terms.code) end as shown
          from largesse.claim c
          cross join lateral (
            select largesse.request_is_same(c.user_id, c.quantity, c.channel, c.numbers, r.user_id, r.quantity, r.channel, r.numbers::bigint[]) as is_same) s
         where c.activity_id = i_terms.activity_id and c.biz_id = r.shown
         -- By the bizId: while the table is young, its index and that of ids look equally good for a search by id, and the wrong one is kept.
         limit 1) k on true
     order by r.ord;
end $$;

-- Locks what users have across activities, where others may change it without our stock. Rows that do not exist yet are guarded when they are written.
-- Parameters: i_terms; i_user_ids. Result: none. Locks: event usage, group members, qualifications (of a split activity), points accounts; each by user. Errors: none.
create or replace function largesse.claim_lock_users(i_terms largesse.claim_terms, i_user_ids bigint[]) returns void
language plpgsql volatile
as $$
begin
  if i_terms.event_max is not null then
    perform 1 from (select u from unnest(i_user_ids) u order by u) r(user_id) cross join lateral (
      select 1 from largesse.event_usage e where e.event_code = i_terms.event_code and e.user_id = r.user_id for update) e;
  end if;
  if i_terms.exclusive_group is not null then
    perform 1 from (select u from unnest(i_user_ids) u order by u) r(user_id) cross join lateral (
      select 1 from largesse.group_member g where g.group_name = i_terms.exclusive_group and g.user_id = r.user_id for update) g;
  end if;
  if i_terms.needs_qualification and i_terms.segments > 1 then
    perform 1 from (select u from unnest(i_user_ids) u order by u) r(user_id) cross join lateral (
      select 1 from largesse.qualification q where q.activity_id = i_terms.activity_id and q.user_id = r.user_id for update) q;
  end if;
  if i_terms.points_cost is not null then
    perform 1 from (select u from unnest(i_user_ids) u order by u) r(user_id) cross join lateral (
      select 1 from largesse.points_account p where p.user_id = r.user_id for update) p;
  end if;
end $$;

-- Users who have no row of an event or group yet get theirs as their claims are written. One who writes them in the order of requests must be alone with that, else
-- two of them would wait for each other's rows; those who write them by user are beside each other. Nobody waits here who has claimed in the event or group before.
-- Parameters: i_terms; i_user_ids; i_is_alone. Result: none. Locks: an advisory lock of the event, then of the group; the caller holds the stock and no user's row. Errors: none.
create or replace function largesse.claim_lock_newcomers(i_terms largesse.claim_terms, i_user_ids bigint[], i_is_alone boolean) returns void
language plpgsql volatile
as $$
declare
  v_keys text[] := '{}';
  v_key  text;
begin
  if i_terms.event_max is not null and exists (
       select from unnest(i_user_ids) r(user_id) left join lateral (
         select 1 as is_known from largesse.event_usage e where e.event_code = i_terms.event_code and e.user_id = r.user_id limit 1) e on true where e.is_known is null) then
    v_keys := v_keys || ('largesse.event.' || i_terms.event_code);
  end if;
  if i_terms.exclusive_group is not null and exists (
       select from unnest(i_user_ids) r(user_id) left join lateral (
         select 1 as is_known from largesse.group_member g where g.group_name = i_terms.exclusive_group and g.user_id = r.user_id limit 1) g on true where g.is_known is null) then
    v_keys := v_keys || ('largesse.group.' || i_terms.exclusive_group);
  end if;
  foreach v_key in array v_keys loop
    if i_is_alone then
      perform pg_advisory_xact_lock(hashtextextended(v_key, 0));
    else
      perform pg_advisory_xact_lock_shared(hashtextextended(v_key, 0));
    end if;
  end loop;
end $$;
