-- SPDX-License-Identifier: Apache-2.0
-- What was kept for long enough is thrown away, in small steps: items of operations that ended, and callbacks of claims that ended. What proves a delivery, a payment or a
-- refund stays, since audits ask for it. Operations themselves, refusal counts and everything of an activity's own stay.

-- One step. Parameters: i_operations, i_callbacks: how long things are kept; i_limit: how many rows at most. Result: a row per kind with how many went.
-- Locks: the rows that go; what others hold is passed over. Errors: none.
create or replace function largesse.retention_step(i_operations interval, i_callbacks interval, i_limit int) returns table (kind text, n bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  with old as materialized (
    select i.operation_id, i.n
      from largesse.operation o
     cross join lateral (select i.operation_id, i.n from largesse.operation_item i where i.operation_id = o.id order by i.n limit i_limit for update skip locked) i
     where o.finished_at < v_now - i_operations limit i_limit
  ), gone as (
    delete from largesse.operation_item i using old where i.operation_id = old.operation_id and i.n = old.n returning 1
  )
  select 'operation_items', count(*) into kind, n from gone;
  return next;
  with old as materialized (
    select b.provider, b.event_id
      from largesse.callback b left join largesse.claim c on c.activity_id = b.activity_id and c.id = b.claim_id
     where b.received_at < v_now - i_callbacks and not (b.outcome = 'done' and b.state in ('applied', 'owes_refund', 'paid_late'))
       and (c.id is null or c.status not in ('waiting', 'offered', 'held', 'issuing') and c.next_attempt_at is null and c.review_since is null)
     limit i_limit for update of b skip locked
  ), gone as (
    delete from largesse.callback b using old where b.provider = old.provider and b.event_id = old.event_id returning 1
  )
  select 'callbacks', count(*) into kind, n from gone;
  return next;
end $$;
