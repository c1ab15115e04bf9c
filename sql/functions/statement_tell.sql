-- SPDX-License-Identifier: Apache-2.0
-- What the matching of statements found, as findings and as figures of each statement.

-- The request id under which we asked for a movement. Parameters: the claim, i_kind. Result: text. Locks, errors: none.
create or replace function largesse.statement_request_id(i_activity_id bigint, i_claim_id bigint, i_kind text) returns text
language sql immutable parallel safe
as $$ select i_activity_id || '-' || i_claim_id || case i_kind when 'payment' then '-p' when 'refund' then '-f' when 'reverse' then '-r' else '' end $$;

-- Writes the findings of a provider's statements down, lets those go that are explained by now, and counts the statements that changed.
-- Parameters: i_provider, i_statement_ids: that changed, i_findings_max: the first so many are written down. Result: none. Locks: the lines, the items, the findings. Errors: none.
create or replace function largesse.statement_tell(i_provider text, i_statement_ids bigint[], i_findings_max int) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  update largesse.statement_line l set finding_key = k.key
    from (select l.statement_id, l.line,
                 case when s.state = 'active' and l.outcome <> 'not_yet_due'
                      then concat_ws('/', 'statement_' || l.outcome, l.provider,
                                     coalesce(largesse.statement_request_id(l.activity_id, l.claim_id, l.kind), left(nullif(l.request_id, ''), 100) || coalesce(':' || left(nullif(l.ref, ''), 100), ''),
                                              left(nullif(l.ref, ''), 100), s.business_date || ':' || l.line)) end as key
            from largesse.statement_line l join largesse.statement s on s.id = l.statement_id
           where l.provider = i_provider and l.outcome not in ('matched', 'ignored')
          union all
          select l.statement_id, l.line, null from largesse.statement_line l where l.provider = i_provider and l.finding_key is not null and l.outcome in ('matched', 'ignored')) k
   where l.statement_id = k.statement_id and l.line = k.line and l.finding_key is distinct from k.key;
  update largesse.statement_item i
     set finding_key = case i.state when 'missing' then 'statement_missing_at_provider/' || i.provider || '/' || largesse.statement_request_id(i.activity_id, i.claim_id, i.kind) end
   where i.provider = i_provider and (i.state = 'missing') <> (i.finding_key is not null);

  perform largesse.finding_upsert(array_agg(f.key), array_agg(f.kind), array_agg(f.activity_id), array_agg(f.claim_id), array_agg(f.expected), array_agg(f.actual),
                                  array_agg(i_provider), array_agg(f.amount), array_agg(f.currency))
    from (select l.finding_key as key, 'statement_' || l.outcome as kind, c.activity_id, c.id as claim_id, l.expected, l.actual,
                 case when l.outcome = 'amount_differs' and w.currency = l.currency then l.amount - w.amount * c.quantity else l.amount end as amount, l.currency
            from largesse.statement_line l
            left join largesse.claim c on c.activity_id = l.activity_id and c.id = l.claim_id
            left join largesse.reward w on w.id = case when l.kind in ('credit', 'reverse') then c.reward_id else c.payment_id end
           where l.provider = i_provider and l.finding_key is not null
          union all
          select i.finding_key, 'statement_missing_at_provider', i.activity_id, i.claim_id,
                 concat_ws(' of ', 'a line about the ' || i.kind, largesse.money_text(i.amount, i.currency)) || ' on ' || largesse.time_text(i.at),
                 'no line of this provider', i.amount, i.currency
            from largesse.statement_item i where i.provider = i_provider and i.finding_key is not null
           order by 1 limit i_findings_max) f
  having count(*) > 0;

  update largesse.finding f set state = 'gone', gone_at = v_now
   where f.provider = i_provider and f.state <> 'gone' and f.kind like 'statement\_%'
     and not exists (select from largesse.statement_line l where l.provider = i_provider and l.finding_key = f.key)
     and not exists (select from largesse.statement_item i where i.provider = i_provider and i.finding_key = f.key);

  update largesse.statement s set matched_at = v_now, counts = largesse.statement_counts(s.id) where s.id = any (i_statement_ids);
end $$;

-- Parameters: i_statement_id. Result: {matched, missingHere, missingAtProvider, amountDiffers, duplicates, reversed, statusDiffers, notYetDue, ignored, findings}. Locks, errors: none.
create or replace function largesse.statement_counts(i_statement_id bigint) returns jsonb
language sql stable
as $$
  select jsonb_build_object(
           'matched', coalesce((l.n ->> 'matched')::bigint, 0), 'missingHere', coalesce((l.n ->> 'missing_here')::bigint, 0), 'missingAtProvider', i.missing,
           'amountDiffers', coalesce((l.n ->> 'amount_differs')::bigint, 0), 'duplicates', coalesce((l.n ->> 'duplicate_line')::bigint, 0) + coalesce((l.n ->> 'duplicate_effect')::bigint, 0),
           'reversed', coalesce((l.n ->> 'reversed')::bigint, 0), 'statusDiffers', coalesce((l.n ->> 'status_differs')::bigint, 0),
           'notYetDue', coalesce((l.n ->> 'not_yet_due')::bigint, 0) + i.in_flight, 'ignored', coalesce((l.n ->> 'ignored')::bigint, 0),
           'findings', i.missing + coalesce((select sum(e.value::bigint) from jsonb_each_text(l.n) e where e.key not in ('matched', 'ignored', 'not_yet_due')), 0))
    from (select coalesce(jsonb_object_agg(o.outcome, o.n), '{}') as n
            from (select l.outcome, count(*) as n from largesse.statement_line l where l.statement_id = i_statement_id group by l.outcome) o) l,
         (select count(*) filter (where i.state = 'missing') as missing, count(*) filter (where i.state = 'in_flight') as in_flight
            from largesse.statement_item i where i.statement_id = i_statement_id) i
$$;

select largesse.audit_register('statement_missing_here', 'high',
  'Every line of a provider''s statement is about something that we asked for.',
  'a record was lost or edited here; or the provider booked what nobody asked for, or what belongs to another system with the same account',
  'ask the provider what the request was; if the movement is ours, its claim has to be found again; if not, have the provider take it back', 'day', null, 'statement');
select largesse.audit_register('statement_missing_at_provider', 'high',
  'Every delivery, payment, refund and reversal that we hold to be done stands in the provider''s statement.',
  'the provider said that it was done and did not book it, a claim was set to done by hand, or the statement is not complete',
  'ask the provider about the request id; if it knows nothing of it, retry or roll the claim back', 'day', null, 'statement');
select largesse.audit_register('statement_amount_differs', 'high',
  'A line of a statement has the amount and the currency of the claim.',
  'the reward''s terms were changed by hand, the provider booked something else, or the profile reads the amounts wrongly (unit, decimal sign, currency)',
  'compare the terms of the reward with what was sent (the claim''s attempts), and settle the difference with the provider', 'day', null, 'statement');
select largesse.audit_register('statement_duplicate_line', 'medium',
  'A movement stands in the statements of a provider once.',
  'the provider''s file has the same line twice, or it stands in the files of two days',
  'ask the provider for a corrected file; import it for the same date', 'day', null, 'statement');
select largesse.audit_register('statement_duplicate_effect', 'critical',
  'A provider does what was asked under one request id once.',
  'the provider did not take the request id for the same request, and delivered or charged twice',
  'have the provider take one of the two back by its reference, and check whether repeat_is_safe and the request id''s place are right in its configuration', 'day', null, 'statement');
select largesse.audit_register('statement_reversed', 'high',
  'What a provider has taken back, or paid back, was taken back here too.',
  'somebody reversed or refunded it at the provider, without us',
  'roll the claim back if that was meant; else have the provider deliver it again', 'day', null, 'statement');
select largesse.audit_register('statement_status_differs', 'high',
  'What a provider says of a movement is what we hold of it.',
  'its answer or its callback did not arrive, or a claim''s state was changed by hand',
  'retry the claim, so that the provider is asked; what was given up here and delivered there is to be reversed', 'day', null, 'statement');
