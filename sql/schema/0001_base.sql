-- SPDX-License-Identifier: Apache-2.0
-- The tables of the main job. Forward only: once released, this file never changes; a later one does.
-- Keys begin with the activity, so that claims, stock and usage can be distributed and partitioned by it.

create sequence largesse.claim_id_seq as bigint cache 64;

-- What a reward is: immutable versions, so that a claim keeps the terms under which it was accepted, on every retry.
create table largesse.reward (
  id         int generated always as identity primary key,
  code       text not null check (code ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  provider   text not null,
  amount     bigint check (amount >= 0),
  currency   text check (currency ~ '^[A-Z]{3}$'),
  params     jsonb not null default '{}',
  created_at timestamptz not null,
  check ((amount is null) = (currency is null))
);
create index reward_by_code on largesse.reward (code, id desc);

create table largesse.event (
  code       text primary key check (code ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  name       text not null,
  time_zone  text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- How far activity ids have been drawn in each month; ids say in which partition an activity's claims lie.
create table largesse.activity_month (
  month   int primary key,       -- months since 1970-01, by the activity's end
  last_id bigint not null check (last_id between 1 and 999999)   -- ids of one month never reach into the next one's partition
);

create table largesse.activity (
  id          bigint primary key,
  code        text not null unique check (code ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  name        text not null,
  kind        text not null check (kind in ('reward', 'registration', 'number', 'exchange')),
  status      text not null check (status in ('draft', 'published', 'ongoing', 'paused', 'finished', 'archived')),
  start_at    timestamptz not null,
  end_at      timestamptz not null,
  latest_end_at timestamptz not null,            -- the latest end it ever had: a claim before it was in time
  time_zone   text not null,
  event_code  text references largesse.event (code),
  venue       text,
  attributes  jsonb not null default '{}',
  reward_id   int references largesse.reward (id),
  stock_total bigint check (stock_total >= 0),   -- as first published; later changes are adjustments; null: unlimited
  version     bigint not null default 1,         -- the ETag
  created_at  timestamptz not null,
  changed_at  timestamptz not null,              -- caches poll by this
  check (end_at > start_at)
);
-- The clock looks only at what can still move by itself.
create index activity_due on largesse.activity
  ((case status when 'published' then start_at else end_at end)) where status in ('published', 'ongoing', 'paused');
create index activity_changed on largesse.activity (changed_at);
create index activity_by_event on largesse.activity (event_code, start_at) where event_code is not null;

create table largesse.activity_state_move (
  from_status text not null,
  to_status   text not null,
  primary key (from_status, to_status)
);
insert into largesse.activity_state_move values
  ('draft', 'published'), ('published', 'ongoing'), ('ongoing', 'finished'), ('finished', 'archived'),
  ('published', 'paused'), ('ongoing', 'paused'), ('paused', 'published'), ('paused', 'ongoing'), ('paused', 'finished');

create table largesse.activity_limit (
  activity_id bigint not null references largesse.activity (id),
  period      text not null check (period in ('total', 'day', 'week', 'month', 'event')),
  max_count   bigint not null check (max_count > 0),
  primary key (activity_id, period)
);

create table largesse.activity_history (
  id          bigint generated always as identity primary key,
  activity_id bigint not null,
  from_status text,                              -- null: created
  to_status   text not null,
  actor       text not null,
  reason      text,
  at          timestamptz not null
);
create index activity_history_by_activity on largesse.activity_history (activity_id, id);

-- Stock lives apart from configuration: taking it never locks the activity. remaining is null where stock is unlimited.
create table largesse.stock (
  activity_id bigint not null,
  segment     smallint not null default 0,
  remaining   bigint check (remaining >= 0),
  taken       bigint not null default 0 check (taken >= 0),
  primary key (activity_id, segment)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

create table largesse.stock_adjustment (
  activity_id bigint not null,
  key         text not null,
  by          bigint not null check (by <> 0),
  reason      text,
  actor       text not null,
  at          timestamptz not null,
  total       bigint not null,                   -- the answer, for replays
  remaining   bigint not null,
  primary key (activity_id, key)
);

-- One counter row for each limit, period and user: the guard stands in the statement, the CHECK behind it.
create table largesse.usage (
  activity_id  bigint not null,
  user_id      bigint not null,
  period       text collate "C" not null,
  period_start date not null,                    -- in the activity's zone; '-infinity' for total
  used         bigint not null check (used >= 0),
  max_used     bigint not null,                  -- the limit when last taken
  primary key (activity_id, user_id, period, period_start),
  check (used <= max_used)
) partition by range (activity_id);

-- The closed set of claim states, what each holds, and the legal moves.
create table largesse.claim_state (
  status          text primary key,
  holds_stock     boolean not null,
  holds_allowance boolean not null,
  is_final        boolean not null
);
insert into largesse.claim_state values
  ('waiting',     false, false, false),
  ('offered',     true,  true,  false),
  ('held',        true,  true,  false),
  ('issuing',     true,  true,  false),
  ('succeeded',   true,  true,  false),
  ('cancelled',   false, false, true),
  ('expired',     false, false, false),
  ('failed',      false, false, true),
  ('rolled_back', false, false, true);

create table largesse.claim_state_move (
  from_status text not null references largesse.claim_state (status),
  to_status   text not null references largesse.claim_state (status),
  primary key (from_status, to_status)
);
insert into largesse.claim_state_move values
  ('waiting', 'offered'), ('waiting', 'cancelled'), ('waiting', 'expired'),
  ('offered', 'issuing'), ('offered', 'succeeded'), ('offered', 'cancelled'), ('offered', 'expired'),
  ('held', 'issuing'), ('held', 'succeeded'), ('held', 'cancelled'), ('held', 'expired'),
  ('issuing', 'succeeded'), ('issuing', 'failed'), ('issuing', 'rolled_back'),
  ('succeeded', 'rolled_back'), ('succeeded', 'cancelled'),
  ('expired', 'issuing'), ('expired', 'succeeded');

-- A claim is also its own outbox row: next_attempt_at says when somebody must look at it again if nothing was heard.
create table largesse.claim (
  activity_id     bigint not null,
  id              bigint not null default nextval('largesse.claim_id_seq'),
  user_id         bigint not null check (user_id > 0),
  created_at      timestamptz not null,          -- the instant by which it was judged
  updated_at      timestamptz not null,
  next_attempt_at timestamptz,                   -- null: nothing is due by itself (final, or under review)
  lease_until     timestamptz,                   -- a fulfiller works on it until then
  trust_after     timestamptz,                   -- an inquiry's "not found" counts from here on; null: at once
  review_since    timestamptz,                   -- a person must decide; the claim keeps what it holds
  quantity        int not null check (quantity > 0),
  reward_id       int,
  attempts        int not null default 0,        -- counted at take; also the fencing token of a lease
  attempts_before int not null default 0,        -- those made before a person last retried it; the ladder starts anew
  sweeps          smallint not null default 0,   -- how often it was published again since somebody took it
  biz_id          text collate "C" not null,
  status          text collate "C" not null check (status in ('waiting', 'offered', 'held', 'issuing', 'succeeded', 'cancelled', 'expired', 'failed', 'rolled_back')),
  step            text check (step in ('deliver', 'inquire', 'charge', 'refund', 'reverse')),   -- what is to be done next
  doing           text,                          -- what the holder of the lease is doing
  channel         text,
  outcome         text check (outcome in ('done', 'pending', 'retry', 'refused', 'unknown')),   -- of the last attempt
  provider_ref    text,
  review_cause    text,
  failure_code    text,
  failure_detail  text,
  primary key (activity_id, id),
  unique (activity_id, biz_id)
) partition by range (activity_id);
-- By reward, and so by provider: what waits behind one provider is never walked over to find what is due at another.
create index claim_due on largesse.claim (reward_id, next_attempt_at) where next_attempt_at is not null;
create index claim_by_user on largesse.claim (user_id, id);
create index claim_under_review on largesse.claim (review_since) where review_since is not null;

-- Each call at a provider, as it was answered.
create table largesse.attempt (
  activity_id bigint not null,
  claim_id    bigint not null,
  attempt     int not null,
  step        text not null,
  provider    text not null,
  started_at  timestamptz not null,
  duration_us bigint not null,
  outcome     text not null,
  http_status int,
  detail      text,
  primary key (activity_id, claim_id, attempt)
);

-- What machines could not finish. The row is the dead letter; the queue only announces it.
create table largesse.dead_letter (
  id          bigint generated always as identity primary key,
  activity_id bigint,                            -- null with claim_id: a message that could not be read
  claim_id    bigint,
  provider    text not null,
  cause       text not null,
  detail      text,
  body        text,                              -- of an unreadable message, capped
  opened_at   timestamptz not null,
  closed_at   timestamptz,
  closed_by   text,
  close_reason text,
  resolution  text check (resolution in ('retried', 'refunded', 'resolved', 'settled')),
  check ((activity_id is null) = (claim_id is null)),
  check ((closed_at is null) = (resolution is null))
);
create unique index dead_letter_open on largesse.dead_letter (activity_id, claim_id) where closed_at is null;
create index dead_letter_by_time on largesse.dead_letter (opened_at, id);
create index dead_letter_by_claim on largesse.dead_letter (activity_id, claim_id);

-- News for the message bus, written by the transaction that made it true and removed after the broker's confirm.
create table largesse.event_out (
  id         bigint generated always as identity primary key,
  event_id   uuid not null default gen_random_uuid(),
  type       text not null,
  subject    text not null,
  data       jsonb not null,
  at         timestamptz not null,
  send_after timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.02);
create index event_out_due on largesse.event_out (send_after, id);

-- Refusals are not recorded one by one; their numbers are.
create table largesse.refusal_count (
  activity_id bigint not null,
  minute      timestamptz not null,
  code        text not null,
  refusals    bigint not null,
  primary key (activity_id, minute, code)
);

-- What the database can prove about itself; each audit registers here from its own file.
create table largesse.audit_definition (
  name        text primary key,
  severity    text not null check (severity in ('critical', 'high', 'medium')),
  explanation text not null,
  cause       text not null,
  next_step   text not null
);
create table largesse.finding (
  key          text primary key,
  kind         text not null,
  severity     text not null,
  activity_id  bigint,
  claim_id     bigint,
  expected     text not null,
  actual       text not null,
  state        text not null check (state in ('opened', 'open', 'gone')),
  opened_at    timestamptz not null,
  last_seen_at timestamptz not null,
  gone_at      timestamptz
);
create table largesse.audit_run (
  id          bigint generated always as identity primary key,
  started_at  timestamptz not null,
  finished_at timestamptz,
  scope       text not null,
  findings    bigint
);
