-- SPDX-License-Identifier: Apache-2.0
-- Reading findings. Locks, errors: none.

-- What probably happened, where the figures of a finding tell it apart from what its audit in general says. Parameters: the finding's kind, key and actual; what its audit
-- says. Result: a cause in words.
create or replace function largesse.finding_cause(i_kind text, i_key text, i_actual text, i_declared text) returns text
language sql immutable
as $$
  select coalesce(case
    when i_kind = 'stock_not_matching_claims' then
      case substring(i_actual from '; (claims are missing|taken without a record|recorded without taking|set wrongly)$')
        when 'claims are missing' then 'claims were removed by hand: what speaks of them still is told by claim_missing'
        when 'taken without a record' then 'stock was taken without a record: a claim was removed, or stock was taken by hand'
        when 'recorded without taking' then 'a record was made without taking stock: a claim was put in, or brought back to life, by hand'
        when 'set wrongly' then 'the initial stock was set wrongly, or what is left was changed by hand' end
    when i_kind = 'claims_stuck' then
      case substring(i_key from ': ([^:]*)$')
        when 'last outcome pending' then 'the provider took them and has not said how they ended: a callback was lost, or it is slow to decide'
        when 'overdue, and nobody takes it' then 'no fulfiller serves the lane of their provider'
        when 'never tried' then 'no fulfiller serves the lane of their provider, or it is full'
        when 'its provider is paused' then 'somebody paused their provider' end
    end, i_declared)
$$;

-- The activity that a finding is about: some audits look at what belongs to no activity along with one of them, which has no part in it.
-- Parameters: the finding's kind and activity. Result: the activity; null: none. Locks, errors: none.
create or replace function largesse.finding_about(i_kind text, i_activity_id bigint) returns bigint
language sql immutable
as $$ select case when i_kind not in ('row_without_activity', 'redemption_not_matching', 'points_not_matching_ledger') then i_activity_id end $$;

-- A finding as lists and pages show it. Parameters: i_finding. Result: JSON text.
create or replace function largesse.finding_json(i_finding largesse.finding) returns text
language sql stable
as $$
  select json_strip_nulls(json_build_object(
           'key', i_finding.key, 'kind', i_finding.kind, 'severity', i_finding.severity, 'source', coalesce(d.source, 'audit'), 'activityCode', a.code,
           'claimId', i_finding.activity_id || '-' || i_finding.claim_id, 'provider', i_finding.provider, 'amount', i_finding.amount, 'currency', i_finding.currency,
           'expected', i_finding.expected, 'actual', i_finding.actual,
           'explanation', d.explanation, 'cause', largesse.finding_cause(i_finding.kind, i_finding.key, i_finding.actual, coalesce(d.cause, 'unknown: this audit is not declared any more')),
           'nextStep', coalesce(d.next_step, 'none'), 'state', i_finding.state,
           'repair', case when d.repair is not null and i_finding.state <> 'gone' then json_build_object('available', true, 'text', largesse.repair_text(d.repair)) end,
           'resolution', case when i_finding.resolved_at is not null then
                           json_build_object('by', i_finding.resolved_by, 'reason', i_finding.resolve_reason, 'at', largesse.time_text(i_finding.resolved_at)) end,
           'openedAt', largesse.time_text(i_finding.opened_at), 'lastSeenAt', largesse.time_text(i_finding.last_seen_at),
           'goneAt', largesse.time_text(i_finding.gone_at)))::text
    from (values (1)) one(n)
    left join largesse.activity a on a.id = largesse.finding_about(i_finding.kind, i_finding.activity_id)
    left join largesse.audit_definition d on d.name = i_finding.kind
$$;

-- What is not declared, or not any more, came from an audit. Parameters: a finding's kind; the kinds that statements declare; i_source. Result: is it from there?
create or replace function largesse.finding_is_from(i_kind text, i_of_statements text[], i_source text) returns boolean
language sql immutable
as $$ select (i_kind = any (i_of_statements)) = (i_source = 'statement') and i_source in ('audit', 'statement') $$;

-- The findings that a filter means. Parameters: i_state (opened, open, gone, all; null: all but gone); i_kind, i_severity, i_activity_code, i_provider, i_source (audit,
-- statement): null: any. Result: the rows.
create or replace function largesse.finding_select(i_state text, i_kind text, i_severity text, i_activity_code text, i_provider text, i_source text)
returns setof largesse.finding
language sql stable  -- without settings of its own, so that the planner puts it in line
as $$
  select f.* from largesse.finding f
   where case when i_state is null then f.state <> 'gone' when i_state = 'all' then true else f.state = i_state end
     and (i_kind is null or f.kind = i_kind)
     and (i_severity is null or f.severity = i_severity)
     and (i_activity_code is null or f.activity_id = (select a.id from largesse.activity a where a.code = i_activity_code)
          and largesse.finding_about(f.kind, f.activity_id) is not null)
     and (i_provider is null or f.provider = i_provider)
     and (i_source is null or largesse.finding_is_from(f.kind, array(select d.name from largesse.audit_definition d where d.source = 'statement'), i_source))
$$;

-- The findings that are named, each once, or that a filter means. Parameters: i_keys; null: by filter: as finding_select. Result: the key, and what is known of it; no state:
-- there is none.
create or replace function largesse.finding_named(
  i_keys text[], i_state text, i_kind text, i_severity text, i_activity_code text, i_provider text, i_source text)
returns table (key text, state text, activity_id bigint, claim_id bigint)
language sql stable
as $$
  select r.key, f.state, f.activity_id, f.claim_id from (select distinct k.key from unnest(i_keys) as k(key)) r left join largesse.finding f on f.key = r.key
  union all
  select f.key, f.state, f.activity_id, f.claim_id from largesse.finding_select(i_state, i_kind, i_severity, i_activity_code, i_provider, i_source) f where i_keys is null
$$;

-- Written out for each order and filter, so that a page comes from an index and whole rows are read for that page only.
-- Parameters: as finding_select; i_sort: key, severity (the most severe first), openedAt or -openedAt (the newest first); i_after: the place of the last one seen ('' to
-- begin); i_limit. Result: place and JSON text per finding, in that order; of equals by key.
create or replace function largesse.finding_list(
  i_state text, i_kind text, i_severity text, i_activity_code text, i_provider text, i_source text, i_sort text, i_after text, i_limit int)
returns table (place text, doc text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_sort    text := case when i_sort in ('severity', 'openedAt', '-openedAt') then i_sort else 'key' end;
  v_is_next boolean := i_after <> '' and (v_sort = 'key' or i_after ~ '^-?[0-9]{1,18} ');
  v_rank    bigint := case when v_is_next and v_sort <> 'key' then split_part(i_after, ' ', 1) end;
  v_key     text := case v_sort when 'key' then i_after else substr(i_after, position(' ' in i_after) + 1) end;
  -- The place of a time is its microseconds.
  v_time    timestamptz := case when v_sort in ('openedAt', '-openedAt') then timestamptz 'epoch' + abs(v_rank) * interval '1 microsecond' end;
  v_by      text := case v_sort when 'severity' then 'case f.severity when ''critical'' then 1 when ''high'' then 2 else 3 end, '  -- as its index has it
                                when 'openedAt' then 'f.opened_at, ' when '-openedAt' then 'f.opened_at desc, ' else '' end;
  v_place   text := case v_sort when 'severity' then 'case f.severity when ''critical'' then 1 when ''high'' then 2 else 3 end || '' '' || f.key'
                                when 'openedAt' then '(extract(epoch from f.opened_at) * 1000000)::bigint || '' '' || f.key'
                                when '-openedAt' then '-(extract(epoch from f.opened_at) * 1000000)::bigint || '' '' || f.key' else 'f.key' end;
begin
  return query execute
    'select ' || v_place || ', largesse.finding_json(f)
       from (select f.key from largesse.finding f where '
    || case when i_state is null then 'f.state <> ''gone''' when i_state = 'all' then 'true' else format('f.state = %L', i_state) end
    || case when i_kind is not null then format(' and f.kind = %L', i_kind) else '' end
    || case when i_severity is not null then format(' and f.severity = %L', i_severity) else '' end
    || case when i_activity_code is not null then format(' and f.activity_id = (select a.id from largesse.activity a where a.code = %L) and largesse.finding_about(f.kind, f.activity_id) is not null', i_activity_code) else '' end
    || case when i_provider is not null then format(' and f.provider = %L', i_provider) else '' end
    || case when i_source is not null then
         format(' and largesse.finding_is_from(f.kind, array(select d.name from largesse.audit_definition d where d.source = ''statement''), %L)', i_source) else '' end
    || case when not v_is_next then ''
            when v_sort = 'key' then ' and f.key > $2'
            when v_sort = 'severity' then ' and (case f.severity when ''critical'' then 1 when ''high'' then 2 else 3 end, f.key) > ($3, $2)'
            when v_sort = 'openedAt' then ' and (f.opened_at, f.key) > ($4, $2)'
            else ' and f.opened_at <= $4 and (f.opened_at < $4 or f.key > $2)' end
    || ' order by ' || v_by || 'f.key limit $1) page join largesse.finding f on f.key = page.key order by ' || v_by || 'f.key'
    using i_limit, v_key, v_rank, v_time;
end $$;

-- Parameters: i_key. Result: JSON text; no row if there is no such finding.
create or replace function largesse.finding_show(i_key text)
returns table (doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$ select largesse.finding_json(f) from largesse.finding f where f.key = i_key $$;
