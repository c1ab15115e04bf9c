-- SPDX-License-Identifier: Apache-2.0
select activity_code, why from largesse.archive_month_blockers(largesse.archive_month_number($1::text), $2::bigint * interval '1 us')
