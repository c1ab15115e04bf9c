-- SPDX-License-Identifier: Apache-2.0
select activity_code, path from largesse.archive_month_files(largesse.archive_month_number($1::text))
