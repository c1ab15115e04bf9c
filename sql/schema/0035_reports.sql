-- SPDX-License-Identifier: Apache-2.0
-- Reports say more of a night: calls at providers, times to delivery, what was given back of other days.

-- What was called in a night is found without looking at other nights; summed up when a night is reported.
create index attempt_by_time on largesse.attempt using brin (started_at) with (pages_per_range = 32);
create index stock_adjustment_by_time on largesse.stock_adjustment (at);

alter table largesse.night
  add column whole text,                         -- JSON: figures that are made over all activities at once; null: still to be made
  add column shape int not null default 1;       -- which figures its report has: an older report is compared by those alone

-- Made anew with a parameter more by its file.
drop function if exists largesse.night_moment(bigint, timestamptz, boolean);
