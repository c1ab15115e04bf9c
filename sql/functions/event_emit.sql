-- SPDX-License-Identifier: Apache-2.0
-- News of one type, told by the transaction that makes it true: one row for the message bus, and a delivery for each enabled endpoint that wants the type.
-- Parameters: i_type such as 'claim.succeeded'; i_at; parallel arrays: i_event_ids (the same id means the same news), i_subjects, i_traces (32 hex digits,
-- '' for none), i_docs (JSON without line breaks). Empty or null arrays: nothing happens. Result: none. Locks: none that exist before. Errors: none.
create or replace function largesse.event_emit(
  i_type text, i_at timestamptz, i_event_ids text[], i_subjects text[], i_traces text[], i_docs text[]) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = auto  -- whatever the caller's: nothing here grows with the claims
as $$
begin
  if coalesce(cardinality(i_event_ids), 0) = 0 then return; end if;
  insert into largesse.event_out (type, event_ids, subjects, traces, docs, at, send_after)
    values (i_type, i_event_ids, i_subjects, i_traces, i_docs, i_at, i_at);
  insert into largesse.webhook_out (endpoint, event_id, type, trace, body, created_at, next_at)
    select e.name, n.event_id, i_type, n.trace, largesse.webhook_body(i_type, i_at, n.doc), i_at, i_at
      from largesse.webhook_endpoint e cross join unnest(i_event_ids, i_traces, i_docs) as n(event_id, trace, doc)
     where e.is_configured and e.disabled_at is null and largesse.webhook_wants(e.types, i_type);
end $$;

-- Is a type among those that an endpoint asked for? Parameters: i_types ('claim.succeeded', 'claim.*' or '*'), i_type. Result: the answer. Locks: none. Errors: none.
create or replace function largesse.webhook_wants(i_types text[], i_type text) returns boolean
language sql immutable
as $$
  select exists (select from unnest(i_types) t where t in (i_type, '*') or (right(t, 2) = '.*' and starts_with(i_type, left(t, -1))))
$$;

-- What is sent to endpoints, made once: Standard Webhooks. Parameters: i_type, i_at, i_doc (JSON). Result: the body. Locks: none. Errors: none.
create or replace function largesse.webhook_body(i_type text, i_at timestamptz, i_doc text) returns text
language sql stable
as $$
  select '{"type":' || to_json(i_type)::text || ',"timestamp":"' || largesse.time_text(i_at) || '","data":' || i_doc || '}'
$$;
