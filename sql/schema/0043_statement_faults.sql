-- SPDX-License-Identifier: Apache-2.0
-- Providers whose statements could not be matched when they should have been, until they are.
create table largesse.statement_fault (
  provider text primary key,
  at       timestamptz not null,
  fault    text not null
);
