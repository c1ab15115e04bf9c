-- SPDX-License-Identifier: Apache-2.0
select largesse.webhook_purge($1::bigint * interval '1 microsecond', $2::int)
