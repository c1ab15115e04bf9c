-- SPDX-License-Identifier: Apache-2.0
-- Payments and refunds, on the one way of actions at providers.

-- A callback may say of a purchase whose hold has ended that it was paid after all.
alter table largesse.callback drop constraint callback_state_check;
alter table largesse.callback add constraint callback_state_check check (state in (
    'applied',           -- it moved the claim, or ended its reversal or refund
    'ignored',           -- the claim's state says so already, or is beyond it
    'contradicts',       -- a failure of what has succeeded and is not being taken back: nothing moves, but people should ask the provider
    'stale',             -- older than what was heard before
    'inquires',          -- no proof, but somebody asks the provider now
    'owes_reversal',     -- it delivered what was given up: to be taken back
    'owes_refund',       -- it was paid too late: to be paid back
    'paid_late',         -- it was paid too late: a person must decide; has its dead letter
    'unmatched',         -- about nothing that we asked this provider for; has its dead letter
    'amount_mismatch')); -- the amount is not the claim's; has its dead letter

-- Made anew with other parameters or columns by their files.
drop function if exists largesse.claim_take(bigint[], bigint[], int[], interval, interval, text, uuid[]);
drop function if exists largesse.claim_settle(bigint[], bigint[], int[], int[], text[], text[], text[], int[], text[], text[], text[], timestamptz[], bigint[], bigint[], text[], bigint[], text[], text[], jsonb, uuid[]);
drop function if exists largesse.claim_doubt(bigint, bigint);
drop function if exists largesse.callback_mismatch(largesse.claim, text, text, text);
drop function if exists largesse.operation_verdict(text, largesse.dead_letter, largesse.claim, boolean, boolean);
