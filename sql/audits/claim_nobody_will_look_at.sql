-- SPDX-License-Identifier: Apache-2.0
-- A claim that is being issued, paid, paid back or taken back is due at some time or under review; a finished one is neither. What was paid too late may wait
-- for a person, and so may a refund that was refused.
-- Parameters: i_activity_id. Result: a row per claim where that is not so. Locks: none. Errors: none.
create or replace function largesse.audit_claim_nobody_will_look_at(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id,
         case when w.is_open then 'due at some time, or under review' else 'nothing due' end,
         format('%s, next attempt %s, %s', c.status, coalesce(largesse.time_text(c.next_attempt_at), 'never'),
                case when c.review_since is null then 'not under review' else 'under review' end)
    from largesse.claim c
   cross join lateral (select largesse.claim_is_open(c) as is_open) w
   where c.activity_id = i_activity_id
     and case when w.is_open then c.next_attempt_at is null and c.review_since is null
              else c.next_attempt_at is not null or c.review_since is not null and coalesce(c.review_cause, '') <> 'late_payment' and coalesce(c.refund, '') <> 'refused' end
     and c.status in ('held', 'issuing', 'succeeded', 'failed', 'rolled_back', 'cancelled', 'expired')
$$;
select largesse.audit_register('claim_nobody_will_look_at', 'critical',
  'No accepted claim can be forgotten.',
  'a claim''s due time was changed by hand, or a callback was lost',
  'run the repair that is offered (findings repair KEY --dry-run, then with --reason): the claim is due now, and its provider is asked',
  i_period => 'activity', i_repair => 'claim_due',
  i_of_claims => array[
    'count(*) filter (where case
    when c.status = ''succeeded'' and c.reversal is null and c.payment is null and c.refund is null then c.next_attempt_at is not null or c.review_since is not null
    when largesse.claim_is_open(c) then c.next_attempt_at is null and c.review_since is null
    else c.next_attempt_at is not null or c.review_since is not null and coalesce(c.review_cause, '''') <> ''late_payment'' and coalesce(c.refund, '''') <> ''refused'' end)']);
