-- SPDX-License-Identifier: Apache-2.0
-- Telling the business: many events in one row of event_out, so that news of thousands of claims a second stays cheap, and outgoing webhooks.

-- The parallel arrays hold one element per event; what a statement made true travels as one row and is removed as one.
drop function if exists largesse.event_out_take(int, interval);
alter table largesse.event_out
  add column event_ids text[],                   -- ce-id: the same however often it is sent
  add column subjects  text[],
  add column traces    text[],                   -- trace id, 32 hex digits; '' where there is none
  add column docs      text[],                   -- JSON of the claim or activity as it was then; no line breaks
  add column tries     int not null default 0,   -- how often the broker or the message format refused it
  add column parked_at timestamptz,              -- given up; a person must look
  add column fault     text;
update largesse.event_out
   set event_ids = array[event_id::text], subjects = array[subject], traces = array[''], docs = array[data::text];
alter table largesse.event_out
  alter column event_ids set not null, alter column subjects set not null, alter column traces set not null, alter column docs set not null,
  drop column event_id, drop column subject, drop column data,
  add check (cardinality(event_ids) > 0 and cardinality(subjects) = cardinality(event_ids) and cardinality(traces) = cardinality(event_ids)
             and cardinality(docs) = cardinality(event_ids));
create index event_out_parked on largesse.event_out (parked_at) where parked_at is not null;
do $$
begin
  alter table largesse.event_out alter column docs set compression lz4;  -- much quicker than the default one
exception when feature_not_supported then null;                          -- a server built without it
end $$;

-- Whom we tell by webhook. Rows come from the configuration of the fulfillers; their state is shared by all of them.
create table largesse.webhook_endpoint (
  name            text primary key,
  origin          text not null,                 -- scheme, host and port; the rest of an address may be a secret
  url_hash        text not null,                 -- another address begins with a clean slate
  types           text[] not null,
  is_configured   boolean not null,              -- false: no longer in the configuration
  disabled_at     timestamptz,
  disabled_by     text check (disabled_by in ('operator', 'gone', 'failing')),
  failing_since   timestamptz,                   -- no success since; null: the last one was one
  last_success_at timestamptz,
  last_failure_at timestamptz,
  last_failure    text,
  changed_at      timestamptz not null,
  check ((disabled_at is null) = (disabled_by is null))
);
create table largesse.webhook_change (
  id       bigint generated always as identity primary key,
  endpoint text not null,
  action   text not null check (action in ('enabled', 'disabled', 'replayed', 'tested')),
  actor    text not null,
  reason   text not null,
  at       timestamptz not null
);
create index webhook_change_by_endpoint on largesse.webhook_change (endpoint, id);

-- One delivery of one event to one endpoint; the bytes of the body never change.
create table largesse.webhook_out (
  id              bigint generated always as identity primary key,
  endpoint        text not null,
  event_id        text not null,
  type            text not null,
  trace           text not null default '',
  body            text not null,
  created_at      timestamptz not null,
  state           text not null default 'waiting' check (state in ('waiting', 'done', 'dead')),
  next_at         timestamptz,                   -- due, or the end of the lease of who is sending it
  attempts        int not null default 0,        -- counted at take; the fencing token of a lease
  attempts_before int not null default 0,        -- those before the last replay; the ladder starts anew
  last_status     int,
  last_detail     text,
  last_at         timestamptz,
  finished_at     timestamptz,
  check ((state = 'waiting') = (next_at is not null)),
  check ((state = 'waiting') = (finished_at is null))
) with (autovacuum_vacuum_scale_factor = 0.02);
create index webhook_out_due on largesse.webhook_out (endpoint, next_at, id) where state = 'waiting';
create index webhook_out_finished on largesse.webhook_out (finished_at) where state <> 'waiting';
create index webhook_out_by_endpoint on largesse.webhook_out (endpoint, id);
