-- SPDX-License-Identifier: Apache-2.0
-- The test clock of a private stack (LARGESSE_TEST_CLOCK=1): clock_now() runs ahead of or behind the real one by an offset.
-- Never part of a migration. Applying it again keeps the offset.
create table if not exists largesse.test_clock (
  only_row boolean primary key default true check (only_row),
  shift    interval not null
);
insert into largesse.test_clock (shift) values (interval '0') on conflict do nothing;
grant select on largesse.test_clock to public;

-- Parameters: none. Result: the present instant plus the offset. Locks: none. Errors: none.
create or replace function largesse.clock_now() returns timestamptz
language sql volatile parallel safe
as $$ select clock_timestamp() + (select shift from largesse.test_clock) $$;

-- Parameters: i_shift, the offset from now on (not added to the one before). Result: the new present instant.
-- Locks: the only row of test_clock. Errors: none.
create or replace function largesse.clock_set(i_shift interval) returns timestamptz
language sql volatile security definer set search_path = largesse, pg_temp
as $$
  update largesse.test_clock set shift = i_shift;
  select clock_timestamp() + i_shift
$$;
grant execute on function largesse.clock_now(), largesse.clock_set(interval) to public;
