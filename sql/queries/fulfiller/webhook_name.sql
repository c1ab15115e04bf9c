-- SPDX-License-Identifier: Apache-2.0
select largesse.webhook_name($1::text[], $2::bigint * interval '1 microsecond')
