-- SPDX-License-Identifier: Apache-2.0
-- Statements of providers: storing a file. One transaction from statement_begin to statement_close, so that nothing of a bad file is left.

-- Parameters: i_provider, i_zone: of the dates in the file, i_file: its name, i_grace, i_terms {covers: [kind], fallback: [reference, user_amount_date], sharedWith: [provider], fetched}, i_actor.
-- Result: the statement's id; null where the database does not know the zone. Locks: statements of this provider, until the transaction ends: one at a time is read
-- or matched. Errors: none.
create or replace function largesse.statement_begin(i_provider text, i_zone text, i_file text, i_grace interval, i_terms jsonb, i_actor text) returns bigint
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_id bigint;
begin
  if not largesse.time_zone_is_known(i_zone) then return null; end if;
  perform largesse.statement_lock(i_provider);
  insert into largesse.statement (provider, time_zone, file, grace, terms, imported_at, imported_by)
    values (i_provider, i_zone, i_file, i_grace, i_terms, largesse.clock_now(), i_actor) returning id into v_id;
  return v_id;
end $$;

-- Parameters: i_provider. Result: none. Locks: statements of this provider, until the transaction ends. Errors: none.
create or replace function largesse.statement_lock(i_provider text) returns void
language sql volatile
as $$ select pg_advisory_xact_lock(hashtextextended('largesse statement ' || i_provider, 0)) $$;

-- Parameters: i_statement_id (of this transaction), and the lines as parallel arrays: place in the file, request id ('' without), the claim it names (nulls: none), user, kind,
-- status, amount (null: none), currency, i_at_us: microseconds since 1970, in UTC or (i_is_local) as the clocks of the statement's zone showed them (null: none), reference.
-- Result: none. Locks: none. Errors: none.
create or replace function largesse.statement_lines_add(
  i_statement_id bigint, i_lines bigint[], i_request_ids text[], i_activities bigint[], i_claims bigint[], i_users text[], i_kinds text[], i_statuses text[],
  i_amounts bigint[], i_currencies text[], i_at_us bigint[], i_is_local boolean, i_refs text[]) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_provider text;
  v_zone     text;
begin
  select s.provider, s.time_zone into strict v_provider, v_zone from largesse.statement s where s.id = i_statement_id and s.business_date is null;
  insert into largesse.statement_line (statement_id, line, provider, request_id, activity_id, claim_id, user_id, kind, status, amount, currency, at, ref, outcome)
    select i_statement_id, r.line, v_provider, r.request_id, r.a, r.c, r.user_id, r.kind, r.status, r.amount, r.currency,
           case when i_is_local then (timestamp 'epoch' + r.at_us * interval '1 microsecond') at time zone v_zone
                else timestamptz 'epoch' + r.at_us * interval '1 microsecond' end,
           r.ref, case when r.kind = 'ignored' or r.status = 'ignored' then 'ignored' else 'matched' end
      from unnest(i_lines, i_request_ids, i_activities, i_claims, i_users, i_kinds, i_statuses, i_amounts, i_currencies, i_at_us, i_refs)
             as r(line, request_id, a, c, user_id, kind, status, amount, currency, at_us, ref);
end $$;

-- The file has been read to its end. Parameters: i_statement_id, i_date: what it covers (null: the local days of its lines), i_checksum and i_bytes of the file, i_findings_max:
-- how many findings are written down, i_actor, i_reason.
-- Result: one row: outcome ('imported'; 'again': this file is here already, and 'no_date': no line says when it was: the caller rolls back), the statement's id.
-- Locks: as statement_match. Errors: none.
create or replace function largesse.statement_close(i_statement_id bigint, i_date date, i_checksum bytea, i_bytes bigint, i_findings_max int, i_actor text, i_reason text)
returns table (outcome text, statement_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_s     largesse.statement;
  v_days  record;
  v_again bigint;
begin
  select s.* into strict v_s from largesse.statement s where s.id = i_statement_id and s.business_date is null;
  select count(*) as lines, (min(l.at) at time zone v_s.time_zone)::date as first_day, (max(l.at) at time zone v_s.time_zone)::date as last_day into v_days
    from largesse.statement_line l where l.statement_id = i_statement_id;
  if i_date is not null then
    v_days.first_day := i_date;
    v_days.last_day := i_date;
  elsif v_days.first_day is null then
    outcome := 'no_date'; return next; return;
  end if;
  select s.id into v_again from largesse.statement s where s.provider = v_s.provider and s.business_date = v_days.first_day and s.checksum = i_checksum;
  if found then
    outcome := 'again'; statement_id := v_again; return next; return;
  end if;
  update largesse.statement s set state = 'superseded', superseded_by = i_statement_id
   where s.provider = v_s.provider and s.business_date = v_days.first_day and s.state = 'active';
  update largesse.statement s
     set business_date = v_days.first_day, lines = v_days.lines, checksum = i_checksum, bytes = i_bytes,
         from_at = largesse.local_instant(v_days.first_day + time '00:00', v_s.time_zone),
         until_at = largesse.local_instant(v_days.last_day + 1 + time '00:00', v_s.time_zone)
   where s.id = i_statement_id;
  perform largesse.statement_match(i_statement_id, true, i_findings_max);
  perform largesse.log_append(i_actor, 'statement.import', v_s.provider || '/' || v_days.first_day, i_reason,
                              jsonb_build_object('statementId', i_statement_id::text, 'file', v_s.file, 'lines', v_days.lines, 'sha256', encode(i_checksum, 'hex')));
  outcome := 'imported'; statement_id := i_statement_id;
  return next;
end $$;

-- A file that was here already is imported again: where a later one had superseded it, it is in force again. Parameters: i_statement_id, i_findings_max, i_actor, i_reason.
-- Result: whether something changed. Locks: as statement_match. Errors: none.
create or replace function largesse.statement_reinstate(i_statement_id bigint, i_findings_max int, i_actor text, i_reason text) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_s largesse.statement;
begin
  select s.* into strict v_s from largesse.statement s where s.id = i_statement_id;
  perform largesse.statement_lock(v_s.provider);
  update largesse.statement s set state = 'superseded', superseded_by = i_statement_id
   where s.provider = v_s.provider and s.business_date = v_s.business_date and s.state = 'active' and s.id <> i_statement_id;
  if not found then return false; end if;
  update largesse.statement s set state = 'active', superseded_by = null where s.id = i_statement_id;
  perform largesse.statement_match(i_statement_id, false, i_findings_max);
  perform largesse.log_append(i_actor, 'statement.import', v_s.provider || '/' || v_s.business_date, i_reason,
                              jsonb_build_object('statementId', i_statement_id::text, 'file', v_s.file, 'inForceAgain', true));
  return true;
end $$;
