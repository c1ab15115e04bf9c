-- SPDX-License-Identifier: Apache-2.0
-- How audits are declared, listed and run. Each file of sql/audits defines a function audit_<name>(i_activity_id) and registers it here;
-- a new audit is one SQL file and no C.

-- Parameters: the definition's columns; i_period: how far back a difference can lie (activity, day, month); i_repair: the function repair_<name> that can mend it;
-- i_source: audit, or statement: recorded by the matching of statements and never run here; i_of_claims, i_suspect: see audit_screen; null: it is always run.
-- Result: none. Locks: the definition's row. Errors: none.
create or replace function largesse.audit_register(
  i_name text, i_severity text, i_explanation text, i_cause text, i_next_step text, i_period text default 'activity', i_repair text default null,
  i_source text default 'audit', i_of_claims text[] default null, i_suspect text default null) returns void
language sql volatile
as $$
  insert into largesse.audit_definition as d (name, severity, explanation, cause, next_step, period, repair, source, of_claims, suspect)
    values (i_name, i_severity, i_explanation, i_cause, i_next_step, i_period, i_repair, i_source, i_of_claims,
            coalesce(i_suspect, case when i_of_claims is not null then 's[1] > 0' end))
    on conflict (name) do update set severity = excluded.severity, explanation = excluded.explanation, cause = excluded.cause, next_step = excluded.next_step,
                                     period = excluded.period, repair = excluded.repair, source = excluded.source,
                                     of_claims = excluded.of_claims, suspect = excluded.suspect
$$;

-- Runs one audit over one activity. Parameters: i_name (registered), i_activity_id.
-- Result: a row per fault: subject (what within the activity, stable from night to night), claim_id or null, expected, actual.
-- Locks: none; read only. Errors: P0002 for a name that is not registered.
create or replace function largesse.audit_run(i_name text, i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_source text := (select d.source from largesse.audit_definition d where d.name = i_name);
begin
  if v_source is null then raise exception 'there is no audit %', i_name using errcode = 'no_data_found'; end if;
  if v_source <> 'audit' then return; end if;  -- recorded by the matching of statements
  return query execute format('select * from largesse.%I($1)', 'audit_' || i_name) using i_activity_id;
end $$;

-- Writes what a run found. Findings keep their identity (finding_upsert), and are gone when a run of the same scope no longer sees them.
-- Parameters: i_activity_ids and i_kinds: what this run covered; the findings as parallel arrays.
-- Result: the findings that are not gone or explained, and those of the run's scope that have just gone. Locks: the findings. Errors: none.
create or replace function largesse.finding_record(
  i_activity_ids bigint[], i_kinds text[],
  i_keys text[], i_key_kinds text[], i_key_activities bigint[], i_claims bigint[], i_expected text[], i_actual text[])
returns table (key text, kind text, severity text, activity_code text, claim_id bigint, expected text, actual text,
               cause text, next_step text, state text, activity_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  perform largesse.finding_upsert(i_keys, i_key_kinds, i_key_activities, i_claims, i_expected, i_actual, null, null, null);
  return query
  with gone as (
    update largesse.finding f set state = 'gone', gone_at = v_now
     where f.state <> 'gone' and f.last_seen_at < v_now and f.kind = any (i_kinds) and f.activity_id = any (i_activity_ids)
    returning f.*
  )
  select f.key, f.kind, f.severity, a.code, f.claim_id, f.expected, f.actual, largesse.finding_cause(f.kind, f.key, f.actual, d.cause), d.next_step, f.state, f.activity_id
    from (select * from gone
          union all
          select * from largesse.finding f where f.key = any (i_keys) and f.state <> 'gone') f
    left join largesse.activity a on a.id = largesse.finding_about(f.kind, f.activity_id)
    left join largesse.audit_definition d on d.name = f.kind
   order by f.state = 'gone', f.activity_id, f.key;
end $$;
