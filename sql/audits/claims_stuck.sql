-- SPDX-License-Identifier: Apache-2.0
-- Claims that should have come to an end: being issued for more than an hour, without a person who looks at them. Told by provider and cause, with how
-- many are how old: a sick provider is one finding and not a hundred thousand.
-- Parameters: i_activity_id. Result: a row per provider and cause. Locks: none. Errors: none.
create or replace function largesse.audit_claims_stuck(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  with stuck as (
    select c.id, issued.at as issued_at, w.provider,
           case when p.paused_until > now.at then 'its provider is paused'
                when p.breaker <> 'closed' then 'its provider''s circuit breaker is ' || replace(p.breaker, '_', ' ')
                when greatest(c.next_attempt_at, c.lease_until) < now.at - interval '15 minutes' then 'overdue, and nobody takes it'
                when c.outcome is null then 'never tried'
                else 'last outcome ' || c.outcome end as cause
      from largesse.claim c
     cross join lateral (select coalesce(c.issued_at, c.created_at) as at) issued  -- a place may have been waited for, or numbers paid for late
     cross join (select largesse.clock_now() as at) now
      left join largesse.reward w on w.id = c.reward_id
      left join largesse.provider_state p on p.provider = w.provider
     where c.activity_id = i_activity_id and c.status = 'issuing' and c.review_since is null and c.next_attempt_at is not null
       and issued.at < now.at - interval '1 hour'
       -- A person sent it round again a moment ago.
       and not exists (select from largesse.dead_letter d where d.activity_id = i_activity_id and d.claim_id = c.id
                                                            and d.closed_at >= now.at - interval '1 hour')
  )
  select format('stuck at %s: %s', coalesce(s.provider, 'no provider'), s.cause), case when count(*) = 1 then min(s.id) end, 'issued within an hour',
         format('%s claims: %s for over an hour, %s for over a day; the oldest is claim %s of %s', count(*),
                count(*) filter (where s.issued_at >= largesse.clock_now() - interval '1 day'),
                count(*) filter (where s.issued_at < largesse.clock_now() - interval '1 day'),
                (array_agg(s.id order by s.issued_at, s.id))[1], largesse.time_text(min(s.issued_at)))
    from stuck s group by s.provider, s.cause
$$;
select largesse.audit_register('claims_stuck', 'medium',
  'Accepted claims come to an end, or to a person.',
  'the provider is paused, sick or slow to decide; or no fulfiller serves its lane',
  'see what the provider''s state, breaker and lane say (fulfiller providers list); resume it, or start a fulfiller that serves it; where it does not tell how claims ended, run the repair that is offered: it is asked now',
  i_period => 'activity', i_repair => 'claims_due',
  i_of_claims => array[
    'count(*) filter (where c.status = ''issuing'' and c.review_since is null and c.next_attempt_at is not null)']);
