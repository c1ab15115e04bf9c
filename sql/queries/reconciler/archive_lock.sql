-- SPDX-License-Identifier: Apache-2.0
select pg_try_advisory_lock(hashtextextended('largesse.archive.' || $1::text, 0))
