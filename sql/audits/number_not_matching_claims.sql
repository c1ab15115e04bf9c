-- SPDX-License-Identifier: Apache-2.0
-- Numbers held and sold = those that claims of the activity asked for and hold: each live claim has all of its numbers, and nobody else has any.
-- Parameters: i_activity_id. Result: a row per number and claim that differ. Locks: none. Errors: none.
create or replace function largesse.audit_number_not_matching_claims(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  with wanted as (
    select asked.number, c.id as claim_id, case c.status when 'held' then 'held' else 'sold' end as status
      from largesse.claim c cross join lateral unnest(c.numbers) as asked(number)
     where c.activity_id = i_activity_id and c.status in (select s.status from largesse.claim_state s where s.holds_stock)
  ), taken as (
    select n.number, n.claim_id, n.status from largesse.activity_number n where n.activity_id = i_activity_id and n.claim_id is not null
  )
  select format('number %s of claim %s', number, claim_id), claim_id,
         coalesce(wanted.status || ' by the claim', 'not with this claim, which does not hold it'),
         coalesce(taken.status || ' by the claim',
                  (select case when n.claim_id is null then 'available' else n.status || ' by claim ' || n.claim_id end
                     from largesse.activity_number n where n.activity_id = i_activity_id and n.number = wanted.number),
                  'not in the set')
    from wanted full join taken using (number, claim_id)
   where wanted.status is distinct from taken.status
$$;
select largesse.audit_register('number_not_matching_claims', 'critical',
  'Every number belongs to the one claim that holds it, or to nobody.',
  'a number or a claim was changed by hand, or a number was not given back with its claim',
  'run the repair that is offered; where two claims hold one number, see which was paid for it, and take the other back: claims roll-back CLAIM --reason',
  i_period => 'activity', i_repair => 'number',
  i_of_claims => array[
    'sum((select sum(largesse.audit_hash(n, largesse.audit_hash(c.id * 2 + (c.status = ''held'')::int, $5))) from unnest(c.numbers) n)) filter (where c.numbers is not null and c.status = any ($2))'],
  i_suspect => 's[1] <> (select coalesce(sum(largesse.audit_hash(n.number, largesse.audit_hash(n.claim_id * 2 + (n.status = ''held'')::int, $5))), 0)
              from largesse.activity_number n where n.activity_id = ($1).id and n.claim_id is not null)');
