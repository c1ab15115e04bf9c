-- SPDX-License-Identifier: Apache-2.0
-- One step of what is due by itself. Row: activity, claims, due and done at (microseconds since 1970). No row: nothing is due here.
select activity_code, claims, due_at, at from largesse.claim_expire($1::int)
