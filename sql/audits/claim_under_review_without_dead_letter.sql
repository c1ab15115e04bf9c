-- SPDX-License-Identifier: Apache-2.0
-- Every claim under review has its open dead letter, and every open letter of a claim has its claim under review.
-- Parameters: i_activity_id. Result: a row per claim where only one of the two is there. Locks: none. Errors: none.
create or replace function largesse.audit_claim_under_review_without_dead_letter(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || coalesce(c.id, d.claim_id), coalesce(c.id, d.claim_id), 'under review with an open dead letter',
         case when d.id is null then 'under review, no open dead letter' else 'open dead letter, not under review' end
    from (select c.id from largesse.claim c where c.activity_id = i_activity_id and c.review_since is not null) c
    full join (select d.id, d.claim_id from largesse.dead_letter d where d.activity_id = i_activity_id and d.closed_at is null) d
      on d.claim_id = c.id
   where c.id is null or d.id is null
$$;
select largesse.audit_register('claim_under_review_without_dead_letter', 'high',
  'What waits for a person is visible to people.',
  'a dead letter or a review mark was changed by hand',
  'run the repair that is offered, then see to the dead letter if one was opened: dead-letters retry|refund|resolve CLAIM --reason',
  i_period => 'activity', i_repair => 'dead_letter',
  i_of_claims => array[
    'count(c.review_since)',
    'sum(largesse.audit_hash(c.id, $5)) filter (where c.review_since is not null)'],
  i_suspect => '(s[1], s[2]) <> (select count(*), coalesce(sum(largesse.audit_hash(d.claim_id, $5)), 0) from largesse.dead_letter d where d.activity_id = ($1).id and d.closed_at is null)');
