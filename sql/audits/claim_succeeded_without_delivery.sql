-- SPDX-License-Identifier: Apache-2.0
-- Deliveries against attempts: what counts as delivered was confirmed by somebody, and not taken back. A claim with a reward that succeeded has a call that the
-- provider answered with "done", a callback that said so, or a person who closed its dead letter with proof; and no reversal of it that the provider confirmed.
-- Parameters: i_activity_id. Result: a row per claim where that is not so. Locks: none. Errors: none.
create or replace function largesse.audit_claim_succeeded_without_delivery(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || c.id, c.id, case when p.is_delivered then 'a delivery that was not taken back' else 'a delivery that was confirmed' end,
         case when p.is_delivered then format('%s, yet its provider confirmed a reversal', c.status)
              else format('%s, %s attempts, the last with outcome %s', c.status, c.attempts, coalesce(c.outcome, 'none')) end
    from largesse.claim c
   cross join lateral (
     select exists (select from largesse.attempt t
                     where t.activity_id = i_activity_id and t.claim_id = c.id and t.outcome = 'done' and t.step in ('deliver', 'inquire'))
         or exists (select from largesse.callback b
                     where b.activity_id = i_activity_id and b.claim_id = c.id and b.outcome = 'done' and b.action = 'deliver' and b.state = 'applied') as is_delivered,
            c.reversal is null and largesse.audit_is_reversed(i_activity_id, c.id) as is_reversed) p
   where c.activity_id = i_activity_id and c.status = 'succeeded' and c.reward_id is not null and (not p.is_delivered or p.is_reversed)
     and not exists (select from largesse.dead_letter d
                      where d.activity_id = i_activity_id and d.claim_id = c.id and d.resolution = 'resolved')
$$;
select largesse.audit_register('claim_succeeded_without_delivery', 'high',
  'Every delivered reward was confirmed by its provider, or by a person with proof, and not taken back.',
  'a claim''s state was changed by hand, or its attempts were removed',
  'ask the provider about the claim''s request id; take the claim back if it knows nothing of it (claims roll-back CLAIM --reason), else say what it said: findings resolve KEY --reason',
  i_period => 'day',
  i_of_claims => array[
    'count(*) filter (where c.status = ''succeeded'' and c.reward_id is not null)',
    'sum(largesse.audit_hash(c.id, $5)) filter (where c.reward_id is not null and c.status = ''succeeded'')'],
  i_suspect => 's[1] > 0 and s[2] <>
    -- As many deliveries stand as were confirmed and not taken back, of the same claims.
    (select coalesce(sum(case when t.step in (''deliver'', ''inquire'') then 1 else -1 end * largesse.audit_hash(t.claim_id, $5)), 0) from largesse.attempt t
      where t.activity_id = ($1).id and t.outcome = ''done'' and t.step in (''deliver'', ''inquire'', ''reverse'', ''inquire_reverse''))
    + (select coalesce(sum(case b.action when ''deliver'' then 1 else -1 end * largesse.audit_hash(b.claim_id, $5)), 0) from largesse.callback b
        where b.activity_id = ($1).id and b.claim_id is not null and b.outcome = ''done'' and b.action in (''deliver'', ''reverse'') and b.state in (''applied'', ''owes_reversal''))');
