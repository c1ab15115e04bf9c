-- SPDX-License-Identifier: Apache-2.0
-- A claim has what its kind of activity gives, and nothing that no request can have asked for.
-- Parameters: i_activity_id. Result: a row per claim where that is not so. Locks: none. Errors: none.
create or replace function largesse.audit_claim_row_not_legal(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'row of claim ' || c.id, c.id, f.expected, f.actual
    from largesse.claim c
    join largesse.activity a on a.id = c.activity_id
   cross join lateral (values
     (c.quantity <= 0, 'a quantity of at least 1', c.quantity::text),
     (c.user_id <= 0, 'a user', c.user_id::text),
     (not exists (select from largesse.claim_state s where s.status = c.status), 'a state of claims', c.status),
     (cardinality(c.numbers) <> c.quantity, format('%s numbers', c.quantity), cardinality(c.numbers)::text),
     (a.kind <> 'number' and c.numbers is not null, 'no numbers in an activity of kind ' || a.kind, c.numbers::text),
     (a.kind <> 'exchange' and c.points is not null, 'no points in an activity of kind ' || a.kind, c.points::text),
     (a.payment_id is null and c.payment_id is not null, 'no payment in an activity without a price', coalesce(c.payment, 'none')),
     (a.waiting_max is null and c.status = 'waiting', 'nobody waits in an activity without a waiting list', c.status)
   ) f(is_fault, expected, actual)
   where c.activity_id = i_activity_id and f.is_fault
     and (c.quantity <= 0 or c.user_id <= 0 or not c.status = any ('{succeeded,issuing,failed,cancelled,expired,rolled_back,held,offered,waiting}')
          or cardinality(c.numbers) <> c.quantity or c.numbers is not null and a.kind <> 'number' or c.points is not null and a.kind <> 'exchange'
          or c.payment_id is not null and a.payment_id is null or c.status = 'waiting' and a.waiting_max is null)
$$;
select largesse.audit_register('claim_row_not_legal', 'critical',
  'Every claim is one that somebody can have made.',
  'the row was changed or inserted by hand',
  'find out who changed it; put it right from the claim''s events and attempts, or roll it back',
  i_period => 'day',
  i_of_claims => array[
    'count(*) filter (where c.quantity <= 0 or c.user_id <= 0 or not c.status = any (''{succeeded,issuing,failed,cancelled,expired,rolled_back,held,offered,waiting}'')
    or cardinality(c.numbers) <> c.quantity or c.numbers is not null and ($1).kind <> ''number'' or c.points is not null and ($1).kind <> ''exchange''
    or c.payment_id is not null and ($1).payment_id is null or c.status = ''waiting'' and ($1).waiting_max is null)']);
