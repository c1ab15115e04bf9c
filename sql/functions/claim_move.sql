-- SPDX-License-Identifier: Apache-2.0
-- The one function that changes the state of claims. Only legal moves happen; what the new state does not hold is given back in
-- the same transaction: stock to the activity, allowance to the user's counters of the periods in which the claim was made.
-- A signed message that named another amount is a person's business whatever becomes of the claim: its letter stays open, about no claim any more.
-- A move ends what was due, a reversal that was not made yet, a review and its dead letter; and it is told to the business as event claim.<i_to>.
-- Parameters: keys (parallel arrays); i_to; what to record with each (arrays, or null): provider's reference, failure code and detail; i_is_news: no decision,
-- but what a provider says of its delivery: claims that are being taken back are left as they are then.
-- Result: the claims that moved. Others were not in a state from which i_to can be reached, and stay as they are.
-- Locks: when something is given back, the stock row first, then claims, then usage; all claims must then be of one activity. Else the claims.
-- Errors: 22023 when a move that gives back names several activities; 40P01, 40001 (repeat).
create or replace function largesse.claim_move_told(
  i_activity_ids bigint[], i_claim_ids bigint[], i_to text, i_refs text[], i_codes text[], i_details text[], i_is_news boolean)
returns table (activity_id bigint, claim_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan  -- a plan made while the table was empty would be kept while it grows
as $$
#variable_conflict use_column
declare
  v_now   timestamptz;
  v_to    largesse.claim_state;
  v_moved record;
  v_ids   text[];
  v_trace text[];
  v_docs  text[];
begin
  select * into strict v_to from largesse.claim_state s where s.status = i_to;
  if not (v_to.holds_stock and v_to.holds_allowance) then
    if (select count(distinct a) from unnest(i_activity_ids) a) > 1 then
      raise exception 'claims that give stock back must be of one activity' using errcode = 'invalid_parameter_value';
    end if;
    perform 1 from largesse.stock s where s.activity_id = i_activity_ids[1] order by s.segment for update;
  end if;
  v_now := largesse.clock_now();
  for v_moved in
    with asked as (
      select r.* from unnest(i_activity_ids, i_claim_ids, i_refs, i_codes, i_details) as r(activity_id, claim_id, ref, code, detail)
    ), found_rows as (
      select c.activity_id, c.id, c.status, c.user_id, c.quantity, c.created_at, asked.ref, asked.code, asked.detail
        from asked join largesse.claim c on c.activity_id = asked.activity_id and c.id = asked.claim_id
        join largesse.claim_state_move m on m.from_status = c.status and m.to_status = i_to
        where not i_is_news or c.reversal is null
        order by c.activity_id, c.id for no key update of c
    ), moved as (
      update largesse.claim c
         set status = i_to, updated_at = v_now, next_attempt_at = null, lease_until = null, doing = null, trust_after = null, doubted_at = null,
             review_since = null, review_cause = null, sweeps = 0,
             outcome = case i_to when 'succeeded' then 'done' when 'failed' then 'refused' else c.outcome end,
             provider_ref = coalesce(f.ref, c.provider_ref), failure_code = f.code, failure_detail = f.detail,
             reversal = case when i_to = 'rolled_back' then c.reversal end, reversal_since = case when i_to = 'rolled_back' then c.reversal_since end
        from found_rows f where c.activity_id = f.activity_id and c.id = f.id
      returning c.activity_id, c.id, f.user_id, f.quantity, f.created_at, f.status as from_status, c.trace, c as claim
    ), letters_closed as (
      update largesse.dead_letter d
         set activity_id = case d.cause when 'callback_amount_mismatch' then null else d.activity_id end,
             claim_id = case d.cause when 'callback_amount_mismatch' then null else d.claim_id end,
             closed_at = case d.cause when 'callback_amount_mismatch' then null else v_now end,
             closed_by = case d.cause when 'callback_amount_mismatch' then null else 'system' end,
             resolution = case d.cause when 'callback_amount_mismatch' then null else 'settled' end
        from moved where d.activity_id = moved.activity_id and d.claim_id = moved.id and d.closed_at is null
    ), given as (
      select moved.*, s.holds_stock and not v_to.holds_stock as gives_stock, s.holds_allowance and not v_to.holds_allowance as gives_allowance
        from moved join largesse.claim_state s on s.status = moved.from_status
    ), stock_back as (
      update largesse.stock s set remaining = s.remaining + g.quantity, taken = s.taken - g.quantity
        from (select g.activity_id, sum(g.quantity) as quantity from given g where g.gives_stock group by 1) g
        where s.activity_id = g.activity_id and s.segment = 0
    ), usage_back as (
      update largesse.usage u set used = u.used - g.quantity
        from (select g.activity_id, g.user_id, l.period, largesse.period_start(l.period, g.created_at, a.time_zone) as start,
                     sum(g.quantity) as quantity
                from given g join largesse.activity a on a.id = g.activity_id
                join largesse.activity_limit l on l.activity_id = g.activity_id
               where g.gives_allowance group by 1, 2, 3, 4) g
        where u.activity_id = g.activity_id and u.user_id = g.user_id and u.period = g.period and u.period_start = g.start
    )
    select moved.activity_id as a, moved.id as c, coalesce(replace(moved.trace::text, '-', ''), '') as trace,
           largesse.claim_doc(moved.claim, (select a.code from largesse.activity a where a.id = moved.activity_id),
                              (select r.code from largesse.reward r where r.id = (moved.claim).reward_id),
                              largesse.claim_reversal_attempts(moved.activity_id, moved.id)) as doc
      from moved
  loop
    activity_id := v_moved.a; claim_id := v_moved.c;
    v_ids := v_ids || (activity_id || '-' || claim_id);
    v_trace := v_trace || v_moved.trace;
    v_docs := v_docs || v_moved.doc;
    return next;
  end loop;
  -- The id is the same whenever this news is told: a claim comes to each state once.
  perform largesse.event_emit('claim.' || i_to, v_now, array(select i || '.' || i_to from unnest(v_ids) i), v_ids, v_trace, v_docs);
end $$;

-- A move that is decided, by us or by a person. Parameters, result, locks, errors: as claim_move_told.
create or replace function largesse.claim_move(
  i_activity_ids bigint[], i_claim_ids bigint[], i_to text, i_refs text[], i_codes text[], i_details text[])
returns table (activity_id bigint, claim_id bigint)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select m.activity_id, m.claim_id from largesse.claim_move_told(i_activity_ids, i_claim_ids, i_to, i_refs, i_codes, i_details, false) m
$$;

-- The common move, of claims whose delivery was done at the first telling, in one statement: those that are being issued, not under review and not being taken
-- back. Nothing is given back and nothing else ends by it, so that the row needs not be looked at before. Everything else is left to claim_move_told.
-- Parameters: keys and the provider's references or nulls (parallel arrays). Result: the claims that moved; others stay as they are.
-- Locks: the claims, ascending; then letters. Errors: 40P01 (repeat).
create or replace function largesse.claim_move_plain(i_activity_ids bigint[], i_claim_ids bigint[], i_refs text[])
returns table (activity_id bigint, claim_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  v_now       timestamptz := largesse.clock_now();
  v_partition regclass;
  v_activity  record;
  v_reward    record;
  v           record;
begin
  perform 1 from largesse.claim_state_move m where m.from_status = 'issuing' and m.to_status = 'succeeded';
  if not found then return; end if;
  -- Most batches are of one activity and one reward: their codes are looked up once.
  select a.id, a.code, a.reward_id into v_activity from largesse.activity a where a.id = i_activity_ids[1];
  select w.id, w.code into v_reward from largesse.reward w where w.id = v_activity.reward_id;
  for v_partition in select p.partition from largesse.claim_partitions(i_activity_ids) p loop
    execute format($q$
      with moved as (
        update %s c
           set status = 'succeeded', updated_at = $4, next_attempt_at = null, lease_until = null, doing = null, trust_after = null, doubted_at = null,
               sweeps = 0, outcome = 'done', provider_ref = coalesce(r.ref, c.provider_ref), failure_code = null, failure_detail = null
          from (select * from unnest($1, $2, $3) as u(activity_id, claim_id, ref) order by u.activity_id, u.claim_id) r
         where c.activity_id = r.activity_id and c.id = r.claim_id and c.status = 'issuing' and c.review_since is null and c.reversal is null
        returning c.activity_id, c.id, c.activity_id || '-' || c.id as subject, coalesce(replace(c.trace::text, '-', ''), '') as trace,
                  largesse.claim_doc(row(c.*)::largesse.claim,
                    case when c.activity_id = $5 then $6 else (select a.code from largesse.activity a where a.id = c.activity_id) end,
                    case when c.reward_id = $7 then $8 else (select w.code from largesse.reward w where w.id = c.reward_id) end, 0) as doc
      )
      select array_agg(m.activity_id) as activity_ids, array_agg(m.id) as claim_ids, array_agg(m.subject || '.succeeded') as event_ids,
             array_agg(m.subject) as subjects, array_agg(m.trace) as traces, array_agg(m.doc) as docs
        from moved m
      $q$, v_partition)
      into v using i_activity_ids, i_claim_ids, i_refs, v_now, v_activity.id, v_activity.code, v_reward.id, v_reward.code;
    continue when v.claim_ids is null;
    -- What is not under review has no open letter; should one be left all the same, it ends here as in every move. Nearly always there are none at all.
    if exists (select from largesse.dead_letter d where d.closed_at is null) then
      update largesse.dead_letter d set closed_at = v_now, closed_by = 'system', resolution = 'settled'
        from unnest(v.activity_ids, v.claim_ids) as m(a, c) where d.activity_id = m.a and d.claim_id = m.c and d.closed_at is null;
    end if;
    perform largesse.event_emit('claim.succeeded', v_now, v.event_ids, v.subjects, v.traces, v.docs);
    return query select m.a, m.c from unnest(v.activity_ids, v.claim_ids) as m(a, c);
  end loop;
end $$;
