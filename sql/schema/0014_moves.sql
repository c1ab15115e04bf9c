-- SPDX-License-Identifier: Apache-2.0
-- What is kept for somebody for a time, and who waits for it.

alter table largesse.claim
  add column issued_at timestamptz,              -- when its delivery came due, where that was not when it was made: a place accepted, a payment that came
  add constraint claim_deadline_while_kept check ((status in ('offered', 'held')) = (deadline is not null));
-- What an activity keeps for whom, in the order in which it ends; its quantity is counted without looking at the claims.
create index claim_kept on largesse.claim (activity_id, deadline) include (quantity) where deadline is not null;
