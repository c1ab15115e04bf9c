-- SPDX-License-Identifier: Apache-2.0
-- Claims whose rows are gone while others speak of them.

-- Parameters: i_activity_id. Result: a row per claim that is not there: its id, whether a call or callback proves that something was delivered or paid, and what speaks of
-- it, in words. Locks, errors: none.
create or replace function largesse.audit_missing_claims(i_activity_id bigint)
returns table (claim_id bigint, is_proof boolean, told text)
language sql stable parallel safe
set jit = off
as $$
  with trace as (
    select t.claim_id, t.outcome = 'done' as is_proof, t.started_at as at, format('attempt %s (%s) at %s of %s: %s', t.attempt, t.step, t.provider, largesse.time_text(t.started_at), t.outcome) as told
      from largesse.attempt t
     where t.activity_id = i_activity_id and not exists (select from largesse.claim c where c.activity_id = i_activity_id and c.id = t.claim_id)
    union all
    select b.claim_id, b.outcome = 'done', b.received_at, format('callback %s of %s of %s: %s', b.event_id, b.provider, largesse.time_text(b.received_at), b.outcome)
      from largesse.callback b
     where b.activity_id = i_activity_id and b.claim_id is not null and b.state in ('applied', 'owes_refund', 'paid_late')
       and not exists (select from largesse.claim c where c.activity_id = i_activity_id and c.id = b.claim_id)
    union all
    select d.claim_id, false, d.opened_at, format('dead letter %s of %s', d.id, largesse.time_text(d.opened_at))
      from largesse.dead_letter d
     where d.activity_id = i_activity_id and not exists (select from largesse.claim c where c.activity_id = i_activity_id and c.id = d.claim_id)
    union all
    select n.claim_id, false, null, format('number %s is %s by it', n.number, n.status)
      from largesse.activity_number n
     where n.activity_id = i_activity_id and n.claim_id is not null and not exists (select from largesse.claim c where c.activity_id = i_activity_id and c.id = n.claim_id)
  )
  select t.claim_id, bool_or(t.is_proof), (array_agg(t.told order by t.is_proof desc, t.at, t.told))[1] from trace t group by t.claim_id
$$;

-- Whether there are such claims, quickly: nothing is sorted or told. Parameters: i_activity_id. Result: the answer. Locks, errors: none.
create or replace function largesse.audit_has_missing_claims(i_activity_id bigint) returns boolean
language sql stable parallel safe
set jit = off
as $$
  select exists (select from largesse.attempt t
                  where t.activity_id = i_activity_id and not exists (select from largesse.claim c where c.activity_id = i_activity_id and c.id = t.claim_id))
      or exists (select from largesse.callback b
                  where b.activity_id = i_activity_id and b.claim_id is not null and b.state in ('applied', 'owes_refund', 'paid_late')
                    and not exists (select from largesse.claim c where c.activity_id = i_activity_id and c.id = b.claim_id))
      or exists (select from largesse.dead_letter d
                  where d.activity_id = i_activity_id and not exists (select from largesse.claim c where c.activity_id = i_activity_id and c.id = d.claim_id))
      or exists (select from largesse.activity_number n
                  where n.activity_id = i_activity_id and n.claim_id is not null and not exists (select from largesse.claim c where c.activity_id = i_activity_id and c.id = n.claim_id))
$$;

-- How many such claims nobody has explained yet: what repairs that give back what they held wait for. Parameters: i_activity_id. Result: the number. Locks, errors: none.
create or replace function largesse.audit_missing_unexplained(i_activity_id bigint) returns bigint
language sql stable
as $$
  select count(*) from largesse.audit_missing_claims(i_activity_id) m
   where largesse.audit_has_missing_claims(i_activity_id)
     and not exists (select from largesse.finding f where f.key = format('claim_missing:%s:claim %s', i_activity_id, m.claim_id) and f.resolved_at is not null)
$$;
