-- SPDX-License-Identifier: Apache-2.0
select code, to_status, due_at, moved_at from largesse.activity_advance($1::int)
