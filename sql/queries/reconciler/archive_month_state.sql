-- SPDX-License-Identifier: Apache-2.0
select largesse.archive_month_state(largesse.archive_month_number($1::text))
