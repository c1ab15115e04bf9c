-- SPDX-License-Identifier: Apache-2.0
-- Orders at providers that nobody paid are closed there when the hold has ended: it is certain then that they will not be paid.

alter table largesse.claim
  drop constraint claim_payment_check,
  add column payment_closed_at timestamptz,      -- stays when the provider says afterwards that it was paid all the same
  add constraint claim_payment_check check (payment in ('due', 'pending', 'retry', 'unknown', 'refused', 'done', 'void', 'closed')),  -- void: never asked for, and never will be
  add constraint claim_closed_at_some_time check (payment is distinct from 'closed' or payment_closed_at is not null);

-- It says whether an order may be closed now.
drop function if exists largesse.claim_take(bigint[], bigint[], int[], interval, interval, text, uuid[]);
