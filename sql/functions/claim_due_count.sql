-- SPDX-License-Identifier: Apache-2.0
-- How many claims are overdue, for the metric: their time has come and nobody has taken them. Those of providers that are held (paused, or their breaker
-- waits) are not: nobody is meant to take them.
-- Parameters: i_limit: counting stops there. Result: the number. Locks: none. Errors: none.
create or replace function largesse.claim_due_count(i_limit int) returns bigint
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_bitmapscan = off
as $$
  select count(*) from (
    select from largesse.reward w
     cross join lateral (select from largesse.claim c
                          where c.reward_id = w.id and c.next_attempt_at <= (select largesse.clock_now())
                            and (c.payment_id is null or largesse.step_terms(c.step, c.reward_id, c.payment_id) = w.id)
                            and (c.lease_until is null or c.lease_until <= (select largesse.clock_now())) limit i_limit) d
     where w.purpose = 'delivery' and w.provider <> all ((select largesse.provider_held())::text[])
    union all
    select from largesse.reward w
     cross join lateral (select from largesse.claim c
                          where c.payment_id = w.id and c.next_attempt_at <= (select largesse.clock_now())
                            and largesse.step_terms(c.step, c.reward_id, c.payment_id) = w.id
                            and (c.lease_until is null or c.lease_until <= (select largesse.clock_now())) limit i_limit) d
     where w.purpose = 'payment' and w.provider <> all ((select largesse.provider_held())::text[])
     limit i_limit) due
$$;
