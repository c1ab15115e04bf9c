-- SPDX-License-Identifier: Apache-2.0
-- Statements of providers: what they say has moved, line by line, against what we hold.

create table largesse.statement (
  id            bigint generated always as identity primary key,
  provider      text not null,
  business_date date,                            -- the first day it covers, in its own zone; null: it is being read
  time_zone     text not null,
  from_at       timestamptz,
  until_at      timestamptz,
  checksum      bytea check (length(checksum) = 32),   -- SHA-256 of the file
  bytes         bigint,
  file          text,                            -- its name, or where it was fetched from
  lines         bigint not null default 0,
  state         text not null default 'active' check (state in ('active', 'superseded')),   -- superseded: a corrected file came
  superseded_by bigint,
  grace         interval not null,               -- what is in flight around the cut-off is no finding for so long
  terms         jsonb not null,                  -- {covers, fallback, fetched}: of the profile it was read by
  counts        jsonb not null default '{}',     -- lines by outcome, and what it lacks
  imported_at   timestamptz not null,
  imported_by   text not null,
  matched_at    timestamptz
);
create unique index statement_file on largesse.statement (provider, business_date, checksum);
create unique index statement_in_force on largesse.statement (provider, business_date) where state = 'active';
create index statement_by_time on largesse.statement (provider, until_at) where state = 'active';

-- A line is one movement. What it is about is read from our request id in it, or found by the profile's other keys.
create table largesse.statement_line (
  statement_id bigint not null,
  line         bigint not null,                  -- in the file
  provider     text collate "C" not null,
  request_id   text collate "C" not null,        -- as it stands there; '' without
  activity_id  bigint,
  claim_id     bigint,
  kind         text collate "C" not null check (kind in ('credit', 'reverse', 'payment', 'refund', 'ignored')),
  status       text collate "C" not null check (status in ('done', 'pending', 'failed', 'ignored')),
  amount       bigint,                           -- minor units, of what moved, whichever way; null: it says none
  currency     text collate "C",
  at           timestamptz,
  ref          text collate "C" not null,        -- the provider's own id; '' without
  user_id      text collate "C" not null,
  found_by     text,                             -- null: by the request id
  outcome      text collate "C" not null default 'matched' check (outcome in
    ('matched', 'ignored', 'not_yet_due', 'missing_here', 'amount_differs', 'duplicate_line', 'duplicate_effect', 'reversed', 'status_differs')),
  expected     text,                             -- of a finding
  actual       text,
  finding_key  text collate "C",
  primary key (statement_id, line)
);
create index statement_line_by_claim on largesse.statement_line (activity_id, claim_id) where claim_id is not null;
create index statement_line_open on largesse.statement_line (provider, statement_id, line) where outcome not in ('matched', 'ignored');
create index statement_line_finding on largesse.statement_line (provider, finding_key) where finding_key is not null;

-- Movements of ours for which no line has come yet.
create table largesse.statement_item (
  provider     text collate "C" not null,
  activity_id  bigint not null,
  claim_id     bigint not null,
  kind         text collate "C" not null,
  statement_id bigint not null,                  -- the one that should have had it
  at           timestamptz not null,             -- when it was done here
  amount       bigint,
  currency     text,
  seen_at      timestamptz not null,             -- when it was first looked for
  due_at       timestamptz not null,
  state        text not null default 'in_flight' check (state in ('in_flight', 'missing')),
  finding_key  text collate "C",
  primary key (provider, activity_id, claim_id, kind)
);
create index statement_item_by_statement on largesse.statement_item (statement_id);
create index statement_item_finding on largesse.statement_item (provider, finding_key) where finding_key is not null;

-- Fetching, one row for each profile that fetches: what was fetched last and what went wrong.
create table largesse.statement_fetch (
  provider      text not null,
  business_date date not null,
  attempts      int not null default 0,
  last_at       timestamptz not null,
  fault         text,                            -- of the last attempt; null: it is here
  primary key (provider, business_date)
);
create index statement_fetch_failed on largesse.statement_fetch (provider, business_date) where fault is not null;
