-- SPDX-License-Identifier: Apache-2.0
-- No claim was accepted before the start or at or after the end of its activity.
-- Parameters: i_activity_id. Result: a row per such claim. Locks: none. Errors: none.
create or replace function largesse.audit_claim_outside_window(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id,
         format('from %s until before %s', largesse.time_text(a.start_at), largesse.time_text(a.latest_end_at)),
         'accepted at ' || largesse.time_text(c.created_at)
    from largesse.claim c join largesse.activity a on a.id = c.activity_id
   where c.activity_id = i_activity_id and (c.created_at < a.start_at or c.created_at >= a.latest_end_at)
$$;
select largesse.audit_register('claim_outside_window', 'critical',
  'Every claim was accepted within its activity''s window.',
  'a claim''s time or the activity''s window was changed by hand',
  'find out who changed the claim or the activity (scheduler activity history CODE); take back what was given outside (claims roll-back CLAIM --reason), or say why it stands: findings resolve KEY --reason',
  i_period => 'day',
  i_of_claims => array[
    'count(*) filter (where c.created_at < ($1).start_at or c.created_at >= ($1).latest_end_at)']);
