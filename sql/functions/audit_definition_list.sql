-- SPDX-License-Identifier: Apache-2.0
-- Every equation that this database can prove about itself, for people: those that `audit` runs, and those of providers' statements.
-- Parameters: i_source: audit, statement, or null: both; i_after: the last name seen ('' to begin), i_limit.
-- Result: name and JSON text per definition, in the order of names. Locks, errors: none.
create or replace function largesse.audit_definition_list(i_source text, i_after text, i_limit int)
returns table (name text, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select d.name, json_build_object('name', d.name, 'source', d.source, 'severity', d.severity, 'period', d.period, 'explanation', d.explanation,
                                   'cause', d.cause, 'nextStep', d.next_step, 'isRepairable', d.repair is not null)::text
    from largesse.audit_definition d
   where d.name > i_after and (i_source is null or d.source = i_source)
   order by d.name limit i_limit
$$;
