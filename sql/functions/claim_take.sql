-- SPDX-License-Identifier: Apache-2.0
-- A fulfiller takes claims for one attempt each: counts the attempt, leases the row, and learns what the call needs. What has nothing to do, is leased,
-- under review or stale (the message's attempt is not the row's) is left alone and not returned: such a message is simply acked.
-- There is something to do for a claim that is being issued, and for one of any status whose step is about something else than its delivery (a reversal,
-- a refund). While the lease runs, `step` says what comes next if nothing is ever heard: an inquiry, never a plain new call.
-- A reversal is not begun while the delivery it takes back could still be running: until `trust_after` it is left alone too, and due then. A charge is begun
-- only while its claim is held and in time.
-- `next_attempt_at` stays: no index has anything to say about this update then, and it finds its place on the row's own page. A leased claim is not due
-- before its lease is over, whatever next_attempt_at says.
-- Parameters: keys and attempts as the message carries them (parallel arrays); i_lease; i_trust_after: an inquiry made before this
-- much time has passed cannot prove that a call never happened; i_provider: the lane that the message came through. A claim of another provider is
-- left alone too (the reward changed while the scheduler still remembered the old one); the sweeper sends it to its own lane; i_traces: trace ids of the
-- messages or nulls (null: none at all). A claim keeps the first it gets, and makes one where the message has none.
-- Result: a row per claim taken; attempt is the fencing token for claim_settle, tries counts since a person last retried it, doing says what to do, wanted_at since when
-- the provider has been saying "pending" (where it has not: now; patience with a person who pays begins with the end of the hold), trust_in_ms how long a "not found" does
-- not count yet, provider_ref that of the payment where the step is about it, may_act whether the action may be made at all where an inquiry does not find it, hold_until the end of
-- what is kept for the payment, may_close whether an order that is not paid may be closed: nothing is kept for it any more. Locks: the claims. Errors: 40P01 (repeat).
create or replace function largesse.claim_take(
  i_activity_ids bigint[], i_claim_ids bigint[], i_attempts int[], i_lease interval, i_trust_after interval, i_provider text, i_traces uuid[] default null)
returns table (activity_id bigint, claim_id bigint, attempt int, tries int, doing text, user_id bigint, quantity int, biz_id text,
               channel text, activity_code text, reward_code text, amount bigint, currency text, params text, created_at timestamptz, wanted_at timestamptz,
               trust_in_ms bigint, provider_ref text, trace uuid, may_act boolean, hold_until timestamptz, may_close boolean)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan  -- a plan made while the table was empty would be kept while it grows
as $$
#variable_conflict use_column
declare
  v_now       timestamptz := largesse.clock_now();
  v_partition regclass;
begin
  for v_partition in select p.partition from largesse.claim_partitions(i_activity_ids) p loop
    return query execute format($q$
      update %s c
         set attempts = c.attempts + 1, sweeps = 0, doing = c.step,
             step = case c.step when 'deliver' then 'inquire' when 'reverse' then 'inquire_reverse' when 'charge' then 'inquire_charge'
                                when 'refund' then 'inquire_refund' else c.step end,
             lease_until = $6 + $4, doubted_at = null,
             trust_after = case when c.step in ('deliver', 'reverse', 'charge', 'refund') then $6 + $5 else c.trust_after end,
             trace = coalesce(c.trace, r.trace, gen_random_uuid())
        from (select * from unnest($1, $2, $3, $8) as r(activity_id, claim_id, attempt, trace) order by 1, 2 offset 0) r,  -- locked in this order
             largesse.reward w
       where c.activity_id = r.activity_id and c.id = r.claim_id and c.attempts = r.attempt
         and c.review_since is null and (c.lease_until is null or c.lease_until <= $6)
         and (c.status = 'issuing' or c.step not in ('deliver', 'inquire'))
         -- "is not null" would invite the index of what is due, and a walk through all of it.
         and coalesce(c.next_attempt_at, '-infinity') > '-infinity'
         and (c.step <> 'reverse' or c.trust_after is null or c.trust_after <= $6)
         and (c.step <> 'charge' or c.status = 'held' and c.deadline > $6)
         and w.id = largesse.step_terms(c.step, c.reward_id, c.payment_id) and w.provider = $7
      returning c.activity_id, c.id, c.attempts, c.attempts - c.attempts_before, c.doing, c.user_id, c.quantity, c.biz_id,
                -- Not a join: with a third key in it the planner would find claims by their activity alone while it knows nothing of a young table.
                c.channel, (select a.code from largesse.activity a where a.id = c.activity_id), w.code, w.amount, w.currency, w.params::text, coalesce(c.issued_at, c.created_at),
                case when c.doing in ('charge', 'inquire_charge') then greatest(c.deadline, coalesce(c.pending_since, $6)) else coalesce(c.pending_since, $6) end,
                greatest(0, ceil(extract(epoch from c.trust_after - $6) * 1000))::bigint,
                case when w.purpose = 'payment' then c.payment_ref else c.provider_ref end, c.trace,
                c.doing <> 'inquire_charge' or c.status = 'held' and c.deadline > $6, c.deadline,
                c.doing = 'inquire_charge' and c.status in ('cancelled', 'expired', 'failed', 'rolled_back')
      $q$, v_partition)
      using i_activity_ids, i_claim_ids, i_attempts, i_lease, i_trust_after, v_now, i_provider, i_traces;
  end loop;
end $$;
