-- SPDX-License-Identifier: Apache-2.0
select largesse.archive_detached(largesse.archive_month_number($1::text), $2::text, $3::text)
