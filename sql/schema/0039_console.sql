-- SPDX-License-Identifier: Apache-2.0
-- What the operator console reads at a glance: units taken minute by minute, and dead letters in the order that people ask for.

-- How many units of an activity were taken at the end of each of the last minutes, as whichever reconciler looked last has seen it. Rates are differences of it;
-- nothing is proved from it, and it may be emptied at any time.
create table largesse.activity_minute (
  activity_id bigint not null,
  minute      timestamptz not null,
  taken       bigint not null,
  primary key (activity_id, minute)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.1);

-- The calls that had been made when the letter was opened: as long as it waits for a person there are no more.
alter table largesse.dead_letter add column attempts int not null default 0;
update largesse.dead_letter d set attempts = c.attempts from largesse.claim c where c.activity_id = d.activity_id and c.id = d.claim_id;

create index dead_letter_open_in_order on largesse.dead_letter (id) where closed_at is null;
create index dead_letter_open_by_attempts on largesse.dead_letter (attempts, id) where closed_at is null;
create index dead_letter_by_attempts on largesse.dead_letter (attempts, id);
