-- SPDX-License-Identifier: Apache-2.0
-- Instants as every answer shows them: RFC 3339, UTC, six digits.
-- Parameters: i_at. Result: text such as 2026-11-29T12:00:00.123456Z; null for null. Locks: none. Errors: none.
create or replace function largesse.time_text(i_at timestamptz) returns text
language sql stable strict parallel safe
as $$ select to_char(i_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') $$;
