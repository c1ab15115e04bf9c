-- SPDX-License-Identifier: Apache-2.0
-- What the matching of statements found, as findings and as figures of each statement.

-- The request id under which we asked for a movement. Parameters: the claim, i_kind. Result: text. Locks, errors: none.
create or replace function largesse.statement_request_id(i_activity_id bigint, i_claim_id bigint, i_kind text) returns text
language sql immutable parallel safe
as $$ select i_activity_id || '-' || i_claim_id || case i_kind when 'payment' then '-p' when 'refund' then '-f' when 'reverse' then '-r' else '' end $$;

-- Gives the lines and the items that are findings their keys: the first so many of each statement, lines before what it lacks; the others have none.
-- Parameters: i_provider, i_findings_max. Result: none. Locks: the lines, the items. Errors: none.
create or replace function largesse.statement_name_findings(i_provider text, i_findings_max int) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
begin
  with picked as materialized (
    select l.statement_id, l.line,
           concat_ws('/', 'statement_' || l.outcome, i_provider,
                     coalesce(largesse.statement_request_id(l.activity_id, l.claim_id, l.kind), left(nullif(l.request_id, ''), 100) || coalesce(':' || left(nullif(l.ref, ''), 100), ''),
                              left(nullif(l.ref, ''), 100), s.business_date || ':' || l.line)) as key
      from largesse.statement s
      cross join lateral (select l.* from largesse.statement_line l
                           where l.provider = i_provider and l.statement_id = s.id and l.outcome not in ('matched', 'ignored') and l.outcome <> 'not_yet_due'
                           order by l.line limit i_findings_max) l
     where s.provider = i_provider and s.state = 'active' and not largesse.statement_is_unrelated(s)
  ), changed as materialized (
    select statement_id, line, p.key
      from picked p
      full join (select l.statement_id, l.line, l.finding_key from largesse.statement_line l where l.provider = i_provider and l.finding_key is not null) o using (statement_id, line)
     where p.key is distinct from o.finding_key
  )
  update largesse.statement_line l set finding_key = k.key from changed k where l.statement_id = k.statement_id and l.line = k.line;

  with named as materialized (
    select l.statement_id, count(*) as n from largesse.statement_line l where l.provider = i_provider and l.finding_key is not null group by 1
  ), wanted as materialized (
    select i.activity_id, i.claim_id, i.kind
      from (select distinct i.statement_id from largesse.statement_item i where i.provider = i_provider) s
      cross join lateral (select i.activity_id, i.claim_id, i.kind from largesse.statement_item i
                           where i.statement_id = s.statement_id and i.state = 'missing'
                           order by i.activity_id, i.claim_id, i.kind
                           limit greatest(i_findings_max - coalesce((select n.n from named n where n.statement_id = s.statement_id), 0), 0)) i
  ), changed as materialized (
    select activity_id, claim_id, kind, w.activity_id is not null and o.finding_key is null as is_wanted, o.finding_key
      from wanted w
      full join (select i.activity_id, i.claim_id, i.kind, i.finding_key from largesse.statement_item i where i.provider = i_provider and i.finding_key is not null) o
           using (activity_id, claim_id, kind)
     where w.activity_id is null or o.activity_id is null
  )
  update largesse.statement_item i
     set finding_key = case when k.finding_key is null
                            then 'statement_missing_at_provider/' || i.provider || '/' || largesse.statement_request_id(i.activity_id, i.claim_id, i.kind) end
    from changed k where i.provider = i_provider and i.activity_id = k.activity_id and i.claim_id = k.claim_id and i.kind = k.kind;
end $$;

-- Writes the findings of a provider's statements down, lets those go that are explained by now, and counts the statements that changed.
-- Parameters: i_provider, i_statement_ids: that changed, i_findings_max: the first so many of each statement are written down. Result: none. Locks: the lines, the items, the
-- findings. Errors: none.
create or replace function largesse.statement_tell(i_provider text, i_statement_ids bigint[], i_findings_max int) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  perform largesse.statement_name_findings(i_provider, i_findings_max);
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
          union all
          select largesse.statement_unrelated_key(s), 'statement_unrelated', null, null, 'lines about what was asked for here',
                 'none of its ' || s.lines || ' lines is: ' || coalesce(s.file, 'a file') || ', statement ' || s.id, null, null
            from largesse.statement s where s.provider = i_provider and s.state = 'active' and largesse.statement_is_unrelated(s)) f
  having count(*) > 0;

  update largesse.finding f set state = 'gone', gone_at = v_now
   where f.provider = i_provider and f.state <> 'gone' and f.kind like 'statement\_%'
     and not exists (select from largesse.statement_line l where l.provider = i_provider and l.finding_key = f.key)
     and not exists (select from largesse.statement_item i where i.provider = i_provider and i.finding_key = f.key)
     and not exists (select from largesse.statement s where s.provider = i_provider and s.state = 'active' and largesse.statement_is_unrelated(s)
                                                        and largesse.statement_unrelated_key(s) = f.key);

  update largesse.statement s set matched_at = v_now, counts = largesse.statement_counts(s.id) where s.id = any (i_statement_ids);
end $$;

-- Parameters: i_statement. Result: the key of the finding that it is about nothing of ours. Locks, errors: none.
create or replace function largesse.statement_unrelated_key(i_statement largesse.statement) returns text
language sql stable
as $$ select 'statement_unrelated/' || i_statement.provider || '/' || i_statement.business_date $$;

-- Parameters: i_statement_id. Result: {matched, missingHere, missingAtProvider, amountDiffers, duplicates, reversed, statusDiffers, notYetDue, ignored, findings, recorded: how many of these are written down}. Locks, errors: none.
create or replace function largesse.statement_counts(i_statement_id bigint) returns jsonb
language sql stable
as $$
  select jsonb_build_object(
           'matched', coalesce((l.n ->> 'matched')::bigint, 0), 'missingHere', coalesce((l.n ->> 'missing_here')::bigint, 0), 'missingAtProvider', i.missing,
           'amountDiffers', coalesce((l.n ->> 'amount_differs')::bigint, 0), 'duplicates', coalesce((l.n ->> 'duplicate_line')::bigint, 0) + coalesce((l.n ->> 'duplicate_effect')::bigint, 0),
           'reversed', coalesce((l.n ->> 'reversed')::bigint, 0), 'statusDiffers', coalesce((l.n ->> 'status_differs')::bigint, 0),
           'notYetDue', coalesce((l.n ->> 'not_yet_due')::bigint, 0) + i.in_flight, 'ignored', coalesce((l.n ->> 'ignored')::bigint, 0),
           'findings', i.missing + coalesce((select sum(e.value::bigint) from jsonb_each_text(l.n) e where e.key not in ('matched', 'ignored', 'not_yet_due')), 0),
           'recorded', i.named + (select count(*) from largesse.statement_line l where l.statement_id = i_statement_id and l.finding_key is not null)
                       + (select count(*) from largesse.statement s where s.id = i_statement_id and s.state = 'active' and largesse.statement_is_unrelated(s)))
    from (select coalesce(jsonb_object_agg(o.outcome, o.n), '{}') as n
            from (select l.outcome, count(*) as n from largesse.statement_line l where l.statement_id = i_statement_id group by l.outcome) o) l,
         (select count(*) filter (where i.state = 'missing') as missing, count(*) filter (where i.state = 'in_flight') as in_flight,
                count(i.finding_key) as named
            from largesse.statement_item i where i.statement_id = i_statement_id) i
$$;

select largesse.audit_register('statement_unrelated', 'high',
  'A statement is about what was asked for by this system.',
  'it is the file of another provider, account or system; or the profile reads the request ids from the wrong column',
  'import the right file for the same date: it takes its place; if the file is right, correct the profile and import it again', 'day', null, 'statement');
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
