-- SPDX-License-Identifier: Apache-2.0
-- The safety net under the queues: finds claims that are overdue for whatever reason and advances them (doubling), so that the caller can
-- publish them after the commit; two sweepers never take the same row.
-- The distance doubles up to 32 times i_base: a claim that a broken broker swallowed often enough still comes round within minutes.
-- What a fulfiller is working on is not due before its lease is over: it is moved behind that, and not returned. So a pass leaves nothing behind that is older
-- than itself, and the next one need not look back further.
-- Parameters: i_limit rows at most; i_from: look no further back than this mark ('-infinity' for a full pass); i_base: the first distance to the next visit;
-- i_held_back: providers whose lanes are full: their claims are in the queue already and are left as they are.
-- Result: keys, the attempt to publish, the provider's lane, when the claim was due. Locks: those claims, skipping locked ones. Errors: none.
create or replace function largesse.claim_sweep(i_limit int, i_from timestamptz, i_base interval, i_held_back text[])
returns table (activity_id bigint, claim_id bigint, attempt int, provider text, due_at timestamptz)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
-- The oldest first, by the index: a plan made before the table was ever analyzed would sort everything that is overdue.
set enable_sort = off set enable_bitmapscan = off
set plan_cache_mode = force_custom_plan  -- a plan made while the table was empty would be kept while it grows
as $$
#variable_conflict use_column
declare
  v_now  timestamptz := largesse.clock_now();
  v_rows bigint;
begin
  return query
  with due as materialized (
    select d.activity_id, d.id, d.next_attempt_at, w.provider
      from largesse.reward w
      cross join lateral (
        select c.activity_id, c.id, c.next_attempt_at
          from largesse.claim c
         where c.reward_id = w.id and c.next_attempt_at <= v_now and c.next_attempt_at >= i_from
           and (c.payment_id is null or largesse.step_terms(c.step, c.reward_id, c.payment_id) = w.id)
           and (c.lease_until is null or c.lease_until <= v_now)
         order by c.next_attempt_at limit i_limit
           for no key update skip locked) d
     where w.purpose = 'delivery' and w.provider <> all (i_held_back)
     limit i_limit
  ), due_payments as materialized (
    select d.activity_id, d.id, d.next_attempt_at, w.provider
      from largesse.reward w
      cross join lateral (
        select c.activity_id, c.id, c.next_attempt_at
          from largesse.claim c
         where c.payment_id = w.id and c.next_attempt_at <= v_now and c.next_attempt_at >= i_from
           and largesse.step_terms(c.step, c.reward_id, c.payment_id) = w.id
           and (c.lease_until is null or c.lease_until <= v_now)
         order by c.next_attempt_at limit i_limit
           for no key update skip locked) d
     where w.purpose = 'payment' and w.provider <> all (i_held_back)
     limit i_limit
  )
  update largesse.claim c
     set sweeps = least(c.sweeps + 1, 10), next_attempt_at = v_now + i_base * power(2, least(c.sweeps, 5))
    from (select * from due union all select * from due_payments limit i_limit) due
   where c.activity_id = due.activity_id and c.id = due.id
  returning c.activity_id, c.id, c.attempts, due.provider, due.next_attempt_at;
  get diagnostics v_rows = row_count;
  -- Only at the end of a pass: before it this would walk through everything that is still overdue.
  if v_rows < i_limit then perform 1 from largesse.claim_after_lease(i_from, i_held_back); end if;
end $$;

-- Moves claims that would be due, but for a lease, behind it. Taking them left their due time alone (see claim_take), and most are settled before it comes.
-- Parameters: as claim_sweep. Result: the claims. Locks: those claims, skipping locked ones. Errors: none.
create or replace function largesse.claim_after_lease(i_from timestamptz, i_held_back text[]) returns table (activity_id bigint, claim_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := largesse.clock_now();
begin
  return query
  with leased as materialized (
    select l.activity_id, l.id
      from largesse.reward w
      cross join lateral (
        select c.activity_id, c.id
          from largesse.claim c
         where c.reward_id = w.id and c.next_attempt_at <= v_now and c.next_attempt_at >= i_from and c.lease_until > v_now
           and (c.payment_id is null or largesse.step_terms(c.step, c.reward_id, c.payment_id) = w.id)
           for no key update skip locked) l
     where w.purpose = 'delivery' and w.provider <> all (i_held_back)
  ), leased_payments as materialized (
    select l.activity_id, l.id
      from largesse.reward w
      cross join lateral (
        select c.activity_id, c.id
          from largesse.claim c
         where c.payment_id = w.id and c.next_attempt_at <= v_now and c.next_attempt_at >= i_from and c.lease_until > v_now
           and largesse.step_terms(c.step, c.reward_id, c.payment_id) = w.id
           for no key update skip locked) l
     where w.purpose = 'payment' and w.provider <> all (i_held_back)
  )
  update largesse.claim c set next_attempt_at = c.lease_until + interval '1 second'
    from (select * from leased union all select * from leased_payments) leased where c.activity_id = leased.activity_id and c.id = leased.id
  returning c.activity_id, c.id;
end $$;
