-- SPDX-License-Identifier: Apache-2.0
-- How far a run of the audit has come, so that one that was interrupted can go on; and findings by activity, which each step of a run looks up.

alter table largesse.audit_run
  add column mode        text not null default 'all' check (mode in ('recent', 'date', 'all')),
  add column activity_id bigint,                 -- only this one; null: all that the mode selects
  add column from_at     timestamptz,
  add column until_at    timestamptz,
  add column reached     bigint not null default 0,   -- activities up to this id are done
  add column activities  bigint not null default 0,   -- how many were audited
  add column failed      bigint not null default 0;   -- audits of an activity that could not be run to their end
create index finding_by_activity on largesse.finding (activity_id, kind);
