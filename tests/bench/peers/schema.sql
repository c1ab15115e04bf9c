-- SPDX-License-Identifier: Apache-2.0
-- What the peers record: a claim with its state and lease, each call with its outcome, and the event of what became of it. Only the keys that the
-- work needs: no further index, so that an update can stay on its page. Made anew for each run.
drop schema if exists peer cascade;
create schema peer;
create table peer.claim (
  id           bigint primary key,
  user_id      bigint not null,
  quantity     int not null,
  status       text not null default 'issuing' check (status in ('issuing', 'succeeded', 'failed')),
  attempts     int not null default 0,
  lease_until  timestamptz,           -- a call may be under way until then
  provider_ref text,
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now()
) with (fillfactor = 50);
create table peer.attempt (
  claim_id    bigint not null,
  attempt     int not null,
  started_at  timestamptz not null,
  duration_us bigint not null,
  outcome     text not null,
  http_status int,
  primary key (claim_id, attempt)
);
create table peer.event (             -- outbox
  id         bigint generated always as identity primary key,
  type       text not null,
  created_at timestamptz not null default clock_timestamp(),
  body       jsonb not null           -- {"claimId", "status"}, or a list of them
);
