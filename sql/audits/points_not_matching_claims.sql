-- SPDX-License-Identifier: Apache-2.0
-- What the ledger says about claims = what claims cost: each claim's points were debited from its user once, and returned once if it holds nothing any more.
-- Parameters: i_activity_id. Result: a row per claim that differs. Locks: none. Errors: none.
create or replace function largesse.audit_points_not_matching_claims(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  with ledger as (
    select e.claim_id, e.user_id, coalesce(-sum(e.amount) filter (where e.key = 'claim/' || e.activity_id || '-' || e.claim_id), 0) as debited,
           coalesce(sum(e.amount) filter (where e.key = 'return/' || e.activity_id || '-' || e.claim_id), 0) as returned, sum(e.amount) as total
      from largesse.points_entry e where e.activity_id = i_activity_id group by e.claim_id, e.user_id
  ), cost as (
    select c.id as claim_id, c.user_id, c.points as debited, case when s.holds_stock then 0 else c.points end as returned
      from largesse.claim c join largesse.claim_state s on s.status = c.status
     where c.activity_id = i_activity_id and c.points is not null
  )
  select format('points user %s claim %s', user_id, claim_id), claim_id,
         format('debited %s, returned %s', coalesce(cost.debited, 0), coalesce(cost.returned, 0)),
         format('debited %s, returned %s, together %s', coalesce(ledger.debited, 0), coalesce(ledger.returned, 0), coalesce(ledger.total, 0))
    from cost full join ledger using (claim_id, user_id)
   where (coalesce(cost.debited, 0), coalesce(cost.returned, 0), coalesce(cost.returned - cost.debited, 0))
         is distinct from (coalesce(ledger.debited, 0), coalesce(ledger.returned, 0), coalesce(ledger.total, 0))
  union all
  select format('cost of claim %s', c.id), c.id, 'points debited', 'an exchange for no points'
    from largesse.claim c join largesse.activity a on a.id = c.activity_id
   where c.activity_id = i_activity_id and a.kind = 'exchange' and c.points is null
$$;
select largesse.audit_register('points_not_matching_claims', 'critical',
  'What a claim cost was debited once, and came back once if the claim came to nothing.',
  'an entry or a claim was changed by hand, or points were debited or returned without their claim',
  'run the repair that is offered, which returns what did not come back; else compare the user''s entries with the claim (scheduler points show USER), and grant what is missing with this finding''s key: scheduler points grant USER --key KEY --reason',
  i_period => 'activity', i_repair => 'points_return',
  i_of_claims => array[
    'count(c.points)',
    'count(c.points) filter (where not c.status = any ($2))',
    'sum(largesse.audit_hash(c.id, largesse.audit_hash(c.user_id, largesse.audit_hash(c.points, $5)))) filter (where c.points is not null)',
    'sum(largesse.audit_hash(c.id, largesse.audit_hash(c.user_id, largesse.audit_hash(c.points, $5)))) filter (where c.points is not null and not c.status = any ($2))',
    'count(*) filter (where ($1).kind = ''exchange'' and c.points is null)'],
  i_suspect => 's[5] > 0 or (s[1] + s[2], s[3], s[4]) <>
    (select count(*),
            coalesce(sum(largesse.audit_hash(e.claim_id, largesse.audit_hash(e.user_id, largesse.audit_hash(-e.amount, $5)))) filter (where e.key = ''claim/'' || e.activity_id || ''-'' || e.claim_id), 0),
            coalesce(sum(largesse.audit_hash(e.claim_id, largesse.audit_hash(e.user_id, largesse.audit_hash(e.amount, $5)))) filter (where e.key = ''return/'' || e.activity_id || ''-'' || e.claim_id), 0)
       from largesse.points_entry e where e.activity_id = ($1).id)');
