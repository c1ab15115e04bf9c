-- SPDX-License-Identifier: Apache-2.0
-- The night's report: one for each business date, whichever reconciler makes it, however often it is interrupted.

-- When a claim came to a state, once and for all: what a report of a night says must be the same for ever, and updated_at moves on.
alter table largesse.claim
  add column succeeded_at timestamptz,           -- first
  add column expired_at   timestamptz,           -- stays when a late payment brings it back
  add column ended_at     timestamptz,           -- cancelled, failed or rolled back, which is for good
  add column paid_at      timestamptz;

-- What has changed since an instant is found without looking at the rest. Of the updates only the take of a delivery is one in place, and it does not touch this.
-- Vacuum sums up what is new: done at once it would be written again by every settling, and at thousands a second asked for more often than the server notes.
create index claim_by_change on largesse.claim using brin (updated_at) with (pages_per_range = 32);
create index refusal_count_by_minute on largesse.refusal_count using brin (minute) with (pages_per_range = 32);
create index points_entry_by_time on largesse.points_entry using brin (at) with (pages_per_range = 32);
create index redemption_by_release on largesse.redemption (released_at) where released_at is not null;

create table largesse.night (
  business_date date primary key,
  time_zone     text not null,                   -- of the report, as it was then
  from_at       timestamptz not null,            -- its local midnight, or where the night before ended
  until_at      timestamptz not null,
  state         text not null check (state in ('running', 'done')),
  holder        text,                            -- who is making it
  token         bigint not null,                 -- counted at take: whoever has an older one has lost it
  lease_until   timestamptz,                     -- then another goes on with it
  run_id        bigint,                          -- of the audit
  started_at    timestamptz not null,
  finished_at   timestamptz,
  clean         boolean,                         -- nothing found, nothing left out
  findings      bigint,                          -- of the audit
  failed        bigint,                          -- audits of an activity that did not come to their end
  claims        bigint,                          -- made in the night, and of how many units
  quantity      bigint,
  report        text,                            -- JSON, from what was written before the cut-off: the same bytes whenever it is made
  moment        text,                            -- JSON, as it was when the report was made
  check (until_at >= from_at),
  check (state = 'running' or finished_at is not null and report is not null and moment is not null)
);
create index night_running on largesse.night (business_date) where state = 'running';

-- The figures of each activity in which something happened, one short statement each.
create table largesse.night_activity (
  business_date date not null references largesse.night (business_date),
  activity_id   bigint not null,
  figures       text,                            -- JSON; null: still to be made
  primary key (business_date, activity_id)
);
create index night_activity_open on largesse.night_activity (business_date, activity_id) where figures is null;

-- Made anew with a parameter more by its file.
drop function if exists largesse.audit_begin(text, date, text, boolean);
