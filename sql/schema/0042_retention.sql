-- SPDX-License-Identifier: Apache-2.0
-- Callbacks that proved something are kept for good; what may go one day is found past them.

create index callback_disposable on largesse.callback (received_at) where not (outcome = 'done' and state in ('applied', 'owes_refund', 'paid_late'));
drop index largesse.callback_by_time;
