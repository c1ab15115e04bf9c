-- SPDX-License-Identifier: Apache-2.0
-- Archives of activities that are over: what was written to which file, and months whose claims are no longer in the table of claims.

-- Detached partitions. Nobody changes them there.
create schema if not exists largesse_archive;

-- The newest verified export of each activity.
create table largesse.archive (
  activity_id bigint primary key references largesse.activity (id),
  path        text not null,                     -- as it was written; the file may have been moved since
  sha256      bytea not null check (length(sha256) = 32),   -- of the file
  bytes       bigint not null check (bytes > 0),
  rows        bigint not null check (rows >= 0),
  manifest    jsonb not null,                    -- [{table, rows, sha256}], as in the file
  state_hash  text not null,                     -- of what an activity's rows said, see archive_state
  exported_at timestamptz not null,
  exported_by text not null,
  verified_at timestamptz not null,              -- when the file was last read and found to be whole
  reason      text
);
create index archive_by_path on largesse.archive (path);

-- Months (as in activity_month) whose partitions are sealed, are being detached, or are detached. No row: attached.
create table largesse.archive_month (
  month       int primary key,
  state       text not null check (state in ('sealed', 'detached')),
  rows        bigint not null,                   -- of claims
  actor       text not null,
  reason      text,
  sealed_at   timestamptz not null,
  detached_at timestamptz,
  check ((state = 'detached') = (detached_at is not null))
);

-- What users have of an event's limit by claims of months that are away: the audit of the sessions that are there counts it in.
create table largesse.archive_event_usage (
  event_code  text not null,
  user_id     bigint not null,
  activity_id bigint not null,
  quantity    bigint not null,
  primary key (event_code, user_id, activity_id)
);
create index archive_event_usage_by_activity on largesse.archive_event_usage (activity_id);

-- Retention looks for what is old.
create index callback_by_time on largesse.callback using brin (received_at) with (pages_per_range = 32);
create index operation_finished on largesse.operation (finished_at) where finished_at is not null;
