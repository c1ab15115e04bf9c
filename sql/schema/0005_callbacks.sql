-- SPDX-License-Identifier: Apache-2.0
-- Callbacks of providers: each event once, whatever became of it. A provider sends again until it hears 2xx, and perhaps then too.
create table largesse.callback (
  provider    text collate "C" not null,
  event_id    text collate "C" not null,         -- the provider's; stays the same when it sends again
  request_id  text not null,                     -- as given
  activity_id bigint,                            -- null: the request id is none that this provider was given
  claim_id    bigint,
  action      text check (action in ('deliver', 'charge', 'refund', 'reverse')),
  outcome     text not null check (outcome in ('done', 'refused', 'pending', 'ignored')),
  ref         text,
  code        text,
  detail      text,
  amount      bigint,                            -- minor units; -1: given, but no amount
  occurred_at timestamptz,                       -- by the provider's clock; null: not told
  received_at timestamptz not null,
  state       text not null check (state in (
    'applied',           -- it moved the claim, or ended its reversal
    'ignored',           -- the claim's state says so already, or is beyond it
    'stale',             -- older than what was heard before
    'inquires',          -- no proof, but somebody asks the provider now
    'owes_reversal',     -- it delivered what was given up: to be taken back
    'unmatched',         -- about nothing that we asked this provider for; has its dead letter
    'amount_mismatch')), -- the amount is not the claim's; has its dead letter
  body        text,                              -- without personal data, cut
  trace       uuid,                              -- of the request that brought it
  primary key (provider, event_id),
  check ((activity_id is null) = (claim_id is null))
);
create index callback_by_claim on largesse.callback (activity_id, claim_id, received_at) where claim_id is not null;
