-- SPDX-License-Identifier: Apache-2.0
-- What people do about claims that machines could not finish, or that they take back: one row per action, with everything that was meant at that
-- moment. Whoever drives it, however often it is interrupted, each item is done once.

create table largesse.operation (
  id            bigint generated always as identity primary key,
  kind          text not null check (kind in ('retry', 'refund', 'resolve', 'roll_back')),
  state         text not null default 'running' check (state in ('running', 'done', 'cancelled')),
  actor         text not null,
  reason        text,                            -- people must give one, programs may leave it out
  proof         text,                            -- of a resolve: how it is known
  as_delivered  boolean not null default true,   -- of a resolve
  rate          int not null check (rate > 0),   -- items a second
  key           text unique,                     -- one operation, however often it is asked for
  request       text not null,                   -- what was asked for with the key
  total         bigint not null,
  done          bigint not null default 0,
  counts        jsonb not null default '{}',     -- done items by outcome
  created_at    timestamptz not null,
  paid_until    timestamptz not null,            -- the pace: what was done so far would take until then
  next_at       timestamptz not null,            -- when somebody may go on with it
  finished_at   timestamptz,
  cancelled_by  text,
  cancel_reason text,
  check (done <= total),
  check ((state = 'running') = (finished_at is null))
);
create index operation_running on largesse.operation (next_at, id) where state = 'running';

-- Numbered by activity and claim, the order in which rows are locked and items are done.
create table largesse.operation_item (
  operation_id bigint not null references largesse.operation (id),
  n            bigint not null,
  letter_id    bigint,                           -- null: a claim that has no letter, or a roll-back
  activity_id  bigint,                           -- null with claim_id: a letter without a claim
  claim_id     bigint,
  outcome      text,                             -- null: still to be done
  at           timestamptz,
  primary key (operation_id, n),
  check ((activity_id is null) = (claim_id is null)),
  check ((outcome is null) = (at is null))
);
create index operation_item_by_claim on largesse.operation_item (activity_id, claim_id);
create index operation_item_by_letter on largesse.operation_item (letter_id) where letter_id is not null;

-- Replaced by operations, and made anew with another filter by its file.
drop function if exists largesse.dead_letter_retry(bigint[], text, text, boolean);
drop function if exists largesse.dead_letter_retry_where(bigint[], text, text, text, bigint, int, text, text, boolean);
drop function if exists largesse.dead_letter_list(text, text, text, text, bigint, int);
drop function if exists largesse.dead_letter_of_claims(bigint[], bigint[]);
