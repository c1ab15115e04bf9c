-- SPDX-License-Identifier: Apache-2.0
select parent, name, state from largesse.archive_partitions(largesse.archive_month_number($1::text))
