-- SPDX-License-Identifier: Apache-2.0
-- Qualifications used = claims that hold them: each live claim, waiting ones too, of an activity that asks for a qualification has its user's, and a used one
-- names a live claim of its user.
-- Parameters: i_activity_id. Result: a row per user and claim that differ. Locks: none. Errors: none.
create or replace function largesse.audit_qualification_not_matching_claims(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  with live as (
    select c.user_id, c.id as claim_id from largesse.claim c
     where c.activity_id = i_activity_id and (c.status = 'waiting' or c.status in (select s.status from largesse.claim_state s where s.holds_stock))
  ), used as (
    select q.user_id, q.claim_id from largesse.qualification q where q.activity_id = i_activity_id and q.claim_id is not null
  )
  select format('qualification user %s claim %s', user_id, claim_id), claim_id,
         case when live.claim_id is not null then 'used by the claim' else 'not used by this claim, which does not hold it' end,
         case when used.claim_id is not null then 'used by the claim'
              else coalesce((select case when q.claim_id is null then 'unused' else 'used by claim ' || q.claim_id end
                               from largesse.qualification q where q.activity_id = i_activity_id and q.user_id = live.user_id), 'not on the list') end
    from live full join used using (user_id, claim_id)
   where used.claim_id is null and (select a.needs_qualification from largesse.activity a where a.id = i_activity_id)
      or live.claim_id is null
$$;
select largesse.audit_register('qualification_not_matching_claims', 'high',
  'A qualification is used by one live claim of its user, or unused.',
  'a qualification or a claim was changed by hand, or a qualification was not given back with its claim',
  'run the repair that is offered; where a claim''s user is not on the list, import the user again or take the claim back: claims roll-back CLAIM --reason',
  i_period => 'activity', i_repair => 'qualification',
  i_of_claims => array[
    'sum(largesse.audit_hash(c.user_id, largesse.audit_hash(c.id, $5))) filter (where ($1).needs_qualification and (c.status = any ($2) or c.status = ''waiting''))'],
  i_suspect => 'case when ($1).needs_qualification
         then s[1] <> (select coalesce(sum(largesse.audit_hash(q.user_id, largesse.audit_hash(q.claim_id, $5))), 0) from largesse.qualification q where q.activity_id = ($1).id and q.claim_id is not null)
         else exists (select from largesse.qualification q where q.activity_id = ($1).id and q.claim_id is not null) end');
