-- SPDX-License-Identifier: Apache-2.0
-- A provider that says of a delivery which has succeeded that it failed, or was closed, contradicts itself: that is more than nothing new.
alter table largesse.callback drop constraint callback_state_check;
alter table largesse.callback add constraint callback_state_check check (state in (
    'applied',           -- it moved the claim, or ended its reversal
    'ignored',           -- the claim's state says so already, or is beyond it
    'contradicts',       -- a failure of what has succeeded and is not being taken back: nothing moves, but people should ask the provider
    'stale',             -- older than what was heard before
    'inquires',          -- no proof, but somebody asks the provider now
    'owes_reversal',     -- it delivered what was given up: to be taken back
    'unmatched',         -- about nothing that we asked this provider for; has its dead letter
    'amount_mismatch')); -- the amount is not the claim's; has its dead letter
