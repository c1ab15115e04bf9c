-- SPDX-License-Identifier: Apache-2.0
-- The only source of instants in SQL. The test clock of a private stack replaces it.
-- Parameters: none. Result: the present instant. Locks: none. Errors: none.
create or replace function largesse.clock_now() returns timestamptz
language sql volatile parallel safe
as $$ select clock_timestamp() $$;
