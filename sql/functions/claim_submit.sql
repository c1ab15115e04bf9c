-- SPDX-License-Identifier: Apache-2.0
-- Judges many claims of one activity in one transaction, as if one came after the other in the order of the arrays.
-- Parameters: i_activity_id; one array element per request; i_sweep_after (how long the first message may take before the sweeper
-- publishes again); i_number_ords, i_numbers: the numbers asked for, as pairs (request from 1, number), or null; i_queued_at: when requests were queued, by which
-- their window and periods are judged (null, or a null element: now); i_segment: where to look for stock first (null: the activity is not split, or all of it).
-- Result: a row per request (ord from 1): ACCEPTED (claim_id, status, at; detail: the claim where it is more than a new claim that is issuing or has succeeded
-- at once), REPLAYED (detail = the claim as it is now), BIZ_ID_REUSED, or a refusal's code (detail = what explains it, JSON); and row 0 with the activity's status,
-- remaining stock and the instant of the judgement.
-- Locks: stock (one segment, or all ascending), usage by user and period, event usage, group members, qualifications, points accounts and numbers, each
-- ascending, then claims. The instant is read once, after the stock lock.
-- Errors: 40001 when a concurrent transaction took what was just seen, or made the same claim with stock of another segment (repeat it); 22023 for numbers where the kind has none, or not as many as the quantity says; nothing is changed then.
create or replace function largesse.claim_submit(
  i_activity_id bigint, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[],
  i_sweep_after interval, i_number_ords int[] default null, i_numbers bigint[] default null, i_queued_at timestamptz[] default null, i_segment int default null)
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_wanted    bigint;
  v_largest   int;
  v_smallest  int;
  v_is_distinct boolean;
  v_segment   int;      -- null: all are locked
  v_remaining bigint;   -- of what is locked
  v_waiting   bigint;
  v_now       timestamptz;
  v_terms     largesse.claim_terms;
  v_refusal   text;
  v_decision  text;
  v_ids       bigint[];
begin
  select sum(r.quantity), max(r.quantity), min(r.quantity), count(*) = count(distinct r.user_id) and count(*) = count(distinct r.biz_id collate "C")
    into v_wanted, v_largest, v_smallest, v_is_distinct
    from unnest(i_quantities, i_user_ids, i_biz_ids) as r(quantity, user_id, biz_id);
  if i_segment is null then
    select s.segment, s.remaining, s.waiting into v_segment, v_remaining, v_waiting
      from largesse.stock s where s.activity_id = i_activity_id and s.segment = 0 for update;
  else
    -- A segment that nobody else is taking from and that has enough for the whole batch, beginning with the caller's own.
    select s.segment, s.remaining, s.waiting into v_segment, v_remaining, v_waiting
      from largesse.stock s where s.activity_id = i_activity_id and (s.remaining is null or s.remaining >= v_wanted)
     order by s.segment < i_segment, s.segment limit 1 for update skip locked;
    if not found then select * into v_segment, v_remaining, v_waiting from largesse.claim_stock_lock(i_activity_id); end if;
  end if;
  v_now := largesse.clock_now();
  select * into v_terms from largesse.claim_terms(i_activity_id, v_now, i_sweep_after);
  v_refusal := case when not found then 'ACTIVITY_NOT_FOUND' when i_queued_at is null then largesse.claim_open_state(v_terms, null) end;
  if v_refusal is not null then
    return query
      select l.ord, case l.verdict when 'UNKNOWN' then v_refusal else l.verdict end, l.claim_id, l.status, l.at, l.detail
        from largesse.claim_lookup(i_activity_id, i_biz_ids, i_user_ids, i_quantities, i_channels, i_number_ords, i_numbers) l;
    return;
  end if;
  if v_terms.segments > 1 and i_segment is null then
    select * into v_segment, v_remaining, v_waiting from largesse.claim_stock_lock(i_activity_id);
  end if;
  v_decision := largesse.claim_stock_decision(v_terms.waiting_max, v_waiting, v_remaining, v_wanted, v_smallest, cardinality(i_biz_ids));

  -- No block with EXCEPTION anywhere here: a row locked outside of one and updated inside it leaves a multixact behind, a thousand a second in a rush.
  -- Nobody else adds claims or usage of an activity in one segment meanwhile, so that once nothing repeats within the batch nothing can collide.
  if v_decision is distinct from 'take' or not v_is_distinct or not v_terms.is_plain or v_terms.segments > 1 or i_queued_at is not null or i_numbers <> '{}'
     or v_largest > any (v_terms.maxima)
     -- One probe each, not `= any (array)`: that becomes a scan of the whole activity while the tables look small to the planner.
     or exists (select from unnest(i_biz_ids) b(biz_id) cross join lateral (
           select from largesse.claim c where c.activity_id = i_activity_id and c.biz_id = b.biz_id limit 1) k)
     or exists (select from unnest(i_user_ids) r(user_id) cross join lateral (
           select from largesse.usage u where u.activity_id = i_activity_id and u.user_id = r.user_id limit 1) k) then
    return query select * from largesse.claim_submit_carefully(
      v_terms, i_biz_ids, i_user_ids, i_quantities, i_channels, i_number_ords, i_numbers, i_queued_at,
      v_segment, v_remaining, v_waiting, case when v_is_distinct then v_decision end);
    return;
  end if;

  -- All new clicks of users who have nothing yet, the common case of a spike: plain inserts.
  v_ids := array(select nextval('largesse.claim_id_seq') from generate_series(1, cardinality(i_biz_ids)));
  insert into largesse.usage (activity_id, user_id, period, period_start, used, max_used)
    select i_activity_id, r.user_id, l.period, l.start, r.quantity, l.max_count
      from unnest(v_terms.periods, v_terms.starts, v_terms.maxima) as l(period, start, max_count),
           unnest(i_user_ids, i_quantities) as r(user_id, quantity);
  insert into largesse.claim (activity_id, id, user_id, created_at, updated_at, next_attempt_at, quantity, reward_id, biz_id, status, step, channel, succeeded_at)
    select i_activity_id, r.id, r.user_id, v_now, v_now, case when v_terms.step is not null then v_terms.sweep_at end, r.quantity, v_terms.reward_id, r.biz_id,
           v_terms.status, v_terms.step, r.channel, case v_terms.status when 'succeeded' then v_now end
      from unnest(v_ids, i_user_ids, i_quantities, i_biz_ids, i_channels) as r(id, user_id, quantity, biz_id, channel);
  perform largesse.claim_guard(largesse.stock_take(i_activity_id, v_wanted, v_segment));
  if v_terms.status = 'succeeded' then perform largesse.claim_tell_succeeded(v_terms, i_biz_ids); end if;
  return query
    select 0, v_terms.activity_status, v_remaining - v_wanted, null::text, v_now, null::text
    union all
    select r.ord::int, 'ACCEPTED', r.id, v_terms.status, v_now, null from unnest(v_ids) with ordinality as r(id, ord);
end $$;

-- Locks all segments of an activity's stock, ascending. Parameters: i_activity_id. Result: a row: no segment in particular, what they have together (null:
-- unlimited), how many wait. Locks: those rows. Errors: none.
create or replace function largesse.claim_stock_lock(i_activity_id bigint) returns table (segment int, remaining bigint, waiting bigint)
language plpgsql volatile
as $$
begin
  perform 1 from largesse.stock s where s.activity_id = i_activity_id order by s.segment for update;
  return query select null::int, sum(s.remaining)::bigint, sum(s.waiting)::bigint from largesse.stock s where s.activity_id = i_activity_id;
end $$;

-- Refuses to go on unless a guard held. Parameters: i_held. Result: true. Locks: none. Errors: 40001.
create or replace function largesse.claim_guard(i_held boolean) returns boolean
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  if i_held is not true then
    raise exception 'stock or usage changed while a batch was judged' using errcode = 'serialization_failure';
  end if;
  return true;
end $$;

-- Tells the business of claims that were done as they were accepted. Parameters: i_terms; i_biz_ids of the claims, nulls among them are passed over. Result: none.
-- Locks: none that exist before. Errors: none.
create or replace function largesse.claim_tell_succeeded(i_terms largesse.claim_terms, i_biz_ids text[]) returns void
language plpgsql volatile
as $$
declare
  v record;
begin
  select array_agg(c.activity_id || '-' || c.id || '.succeeded') as events, array_agg(c.activity_id || '-' || c.id) as subjects, array_agg(''::text) as traces,
         array_agg(largesse.claim_doc(c.row, i_terms.code, null, 0)) as docs
    into v
    from unnest(i_biz_ids) r(biz_id) cross join lateral (
      select c.activity_id, c.id, c as row from largesse.claim c where c.activity_id = i_terms.activity_id and c.biz_id = r.biz_id limit 1) c;
  perform largesse.event_emit('claim.succeeded', i_terms.now, v.events, v.subjects, v.traces, v.docs);
end $$;
