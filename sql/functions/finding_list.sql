-- SPDX-License-Identifier: Apache-2.0
-- Reading findings. Locks, errors: none.

-- A finding as lists and pages show it. Parameters: i_finding. Result: JSON text.
create or replace function largesse.finding_json(i_finding largesse.finding) returns text
language sql stable
as $$
  select json_strip_nulls(json_build_object(
           'key', i_finding.key, 'kind', i_finding.kind, 'severity', i_finding.severity, 'activityCode', a.code,
           'claimId', i_finding.activity_id || '-' || i_finding.claim_id, 'expected', i_finding.expected, 'actual', i_finding.actual,
           'explanation', d.explanation, 'cause', coalesce(d.cause, 'unknown: this audit is not declared any more'),
           'nextStep', coalesce(d.next_step, 'none'), 'state', i_finding.state,
           'openedAt', largesse.time_text(i_finding.opened_at), 'lastSeenAt', largesse.time_text(i_finding.last_seen_at),
           'goneAt', largesse.time_text(i_finding.gone_at)))::text
    from (values (1)) one(n)
    left join largesse.activity a on a.id = i_finding.activity_id
    left join largesse.audit_definition d on d.name = i_finding.kind
$$;

-- Parameters: i_state (opened, open, gone, all; null: all but gone), i_kind and i_activity_code (null: any), i_after: the last key seen ('' to begin), i_limit.
-- Result: key and JSON text per finding, in the order of keys.
create or replace function largesse.finding_list(i_state text, i_kind text, i_activity_code text, i_after text, i_limit int)
returns table (key text, doc text)
language sql stable security definer
set search_path = largesse, pg_temp
as $$
  select f.key, largesse.finding_json(f)
    from (select f.* from largesse.finding f
           where f.key > i_after
             and case when i_state is null then f.state <> 'gone' when i_state = 'all' then true else f.state = i_state end
             and (i_kind is null or f.kind = i_kind)
             and (i_activity_code is null or f.activity_id = (select a.id from largesse.activity a where a.code = i_activity_code))
           order by f.key limit i_limit) f
   order by f.key
$$;

-- Parameters: i_key. Result: JSON text; no row if there is no such finding.
create or replace function largesse.finding_show(i_key text)
returns table (doc text)
language sql stable security definer
set search_path = largesse, pg_temp
as $$ select largesse.finding_json(f) from largesse.finding f where f.key = i_key $$;
