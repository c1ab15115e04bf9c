-- SPDX-License-Identifier: Apache-2.0
-- Fulfillers need not all have the same endpoints, not while a configuration is rolled out and not afterwards: an endpoint is one that is told news as long as
-- any fulfiller names it.
alter table largesse.webhook_endpoint
  add column named_at timestamptz not null default now();  -- when a fulfiller last said that it has this endpoint
