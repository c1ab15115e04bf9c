-- SPDX-License-Identifier: Apache-2.0
-- Protection of providers: what fulfillers may do there at present, shared by all of them, and every change of it.

-- One row per provider, made when a fulfiller that serves it starts.
create table largesse.provider_state (
  provider        text collate "C" primary key,
  paused_until    timestamptz,                   -- 'infinity': until resumed; in the past: when it ended; null: never paused
  breaker         text not null default 'closed' check (breaker in ('closed', 'open', 'half_open')),
  breaker_until   timestamptz,                   -- open: a probe may go out from here on; closed: since when
  breaker_forced  boolean not null default false,   -- an operator holds it where it is
  breaker_opens   int not null default 0,        -- openings since it was last closed; each doubles the time
  probe_by        text,                          -- the instance that makes the probe of a half-open breaker
  probe_until     timestamptz,                   -- its time for it
  concurrency     int check (concurrency between 1 and 4096),   -- over all fulfillers; null: as configured
  rate            numeric check (rate = 0 or rate between 0.01 and 1000000),   -- per second, 0: unlimited; null: as configured
  configured_concurrency int not null,           -- by the fulfiller that started last
  configured_rate numeric not null,
  can_reverse     boolean not null,              -- abilities of the profile
  can_inquire     boolean not null,
  repeat_is_safe  boolean not null,
  version         bigint not null default 1,
  changed_at      timestamptz not null,
  check ((breaker = 'half_open') = (probe_by is not null)),
  check ((probe_by is null) = (probe_until is null)),
  check (breaker <> 'open' or breaker_until is not null),
  check (not breaker_forced or breaker <> 'half_open')
) with (fillfactor = 50);

-- Every change, by whomever.
create table largesse.provider_change (
  id         bigint generated always as identity primary key,
  provider   text collate "C" not null,
  at         timestamptz not null,
  actor      text not null,
  what       text not null check (what in ('pause', 'breaker', 'breaker_hold', 'concurrency', 'rate')),
  from_value text,
  to_value   text,
  reason     text
);
create index provider_change_by_provider on largesse.provider_change (provider, id desc);

-- Fulfillers that are alive share what a provider allows.
create table largesse.fulfiller_instance (
  instance   text collate "C" primary key,
  providers  text[] not null,                    -- those it serves
  started_at timestamptz not null,
  seen_at    timestamptz not null
) with (fillfactor = 50);
