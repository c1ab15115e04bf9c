-- SPDX-License-Identifier: Apache-2.0
select name, is_fixed from largesse.archive_tables() order by n
