-- SPDX-License-Identifier: Apache-2.0
-- Who may come in, and when: schedulers that share limits, and requests that wait in a queue to be judged.

-- Schedulers that live; they divide the rates that are given for all of them together.
create table largesse.scheduler_instance (
  instance   text collate "C" primary key,
  started_at timestamptz not null,
  seen_at    timestamptz not null
) with (fillfactor = 50);

-- Requests of activities with queued intake, in the order in which they came. What was accepted becomes a claim and leaves; the verdict of what was refused is kept
-- for a while, so that whoever asks is told.
create table largesse.claim_queue (
  activity_id bigint not null,
  place       bigint not null,                   -- 1 is the first one ever of its activity
  biz_id      text collate "C" not null,
  user_id     bigint not null check (user_id > 0),
  quantity    int not null check (quantity > 0),
  channel     text,
  numbers     bigint[],                          -- ascending
  trace       text,                              -- traceparent of the request
  queued_at   timestamptz not null,              -- the instant by which it is judged
  verdict     text,                              -- null: it waits
  detail      text,                              -- what explains the verdict, JSON
  judged_at   timestamptz,
  primary key (activity_id, place),
  unique (activity_id, biz_id),
  check ((verdict is null) = (judged_at is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index claim_queue_waits on largesse.claim_queue (activity_id, place) where verdict is null;
create index claim_queue_judged on largesse.claim_queue (judged_at) where verdict is not null;

-- How many requests of an activity were ever queued, and how many of these were judged. Two rows of two tables, since they are written by two kinds of
-- transactions that must not wait for each other: those that queue, and the one that judges.
create table largesse.claim_queue_tail (
  activity_id bigint primary key,
  queued      bigint not null check (queued >= 0)
) with (fillfactor = 50);
create table largesse.claim_queue_head (
  activity_id bigint primary key,
  judged      bigint not null check (judged >= 0),
  turn_at     timestamptz not null               -- when it last had its turn; the one that waited for longest is next
) with (fillfactor = 50);
