-- SPDX-License-Identifier: Apache-2.0
-- A fulfiller takes claims for one attempt each: counts the attempt, leases the row, and learns what the call needs. What is finished, leased,
-- under review or stale (the message's attempt is not the row's) is left alone and not returned: such a message is simply acked.
-- While the lease runs, `step` says what comes next if nothing is ever heard: an inquiry, never a plain new delivery.
-- Parameters: keys and attempts as the message carries them (parallel arrays, best ascending); i_lease; i_trust_after: an inquiry made before this
-- much time has passed cannot prove that a delivery never happened; i_provider: the lane that the message came through. A claim of another provider is
-- left alone too (the reward changed while the scheduler still remembered the old one); the sweeper sends it to its own lane.
-- Result: a row per claim taken; attempt is the fencing token for claim_settle, tries counts since a person last retried it, doing says what to do,
-- trust_in_ms how long a "not found" does not count yet. Locks: the claims. Errors: 40P01 (repeat).
create or replace function largesse.claim_take(
  i_activity_ids bigint[], i_claim_ids bigint[], i_attempts int[], i_lease interval, i_trust_after interval, i_provider text)
returns table (activity_id bigint, claim_id bigint, attempt int, tries int, doing text, user_id bigint, quantity int, biz_id text,
               channel text, activity_code text, reward_code text, amount bigint, currency text, params text, created_at timestamptz,
               trust_in_ms bigint, provider_ref text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan  -- a plan made while the table was empty would be kept while it grows
as $$
#variable_conflict use_column
declare
  v_now timestamptz := largesse.clock_now();
begin
  return query
  update largesse.claim c
     set attempts = c.attempts + 1, sweeps = 0, doing = c.step,
         step = case c.step when 'deliver' then 'inquire' else c.step end,
         lease_until = v_now + i_lease, next_attempt_at = v_now + i_lease + interval '1 second',
         trust_after = case c.step when 'deliver' then v_now + i_trust_after else c.trust_after end
    from unnest(i_activity_ids, i_claim_ids, i_attempts) as r(activity_id, claim_id, attempt),
         largesse.reward w
   where c.activity_id = r.activity_id and c.id = r.claim_id and c.attempts = r.attempt
     and c.status = 'issuing' and c.review_since is null and (c.lease_until is null or c.lease_until <= v_now)
     and w.id = c.reward_id and w.provider = i_provider
  returning c.activity_id, c.id, c.attempts, c.attempts - c.attempts_before, c.doing, c.user_id, c.quantity, c.biz_id,
            -- Not a join: with a third key in it the planner would find claims by their activity alone while it knows nothing of a young table.
            c.channel, (select a.code from largesse.activity a where a.id = c.activity_id), w.code, w.amount, w.currency, w.params::text, c.created_at,
            greatest(0, ceil(extract(epoch from c.trust_after - v_now) * 1000))::bigint, c.provider_ref;
end $$;
