-- SPDX-License-Identifier: Apache-2.0
-- How long a provider has been saying "pending": patience with it counts from there, not from when the claim was made.
alter table largesse.claim
  add column pending_since timestamptz;  -- since a person, or a decision to take back, last sent the claim round; null: it was not said
