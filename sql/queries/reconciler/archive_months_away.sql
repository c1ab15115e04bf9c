-- SPDX-License-Identifier: Apache-2.0
select largesse.archive_months_away()
