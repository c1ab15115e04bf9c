-- SPDX-License-Identifier: Apache-2.0
select place, doc from largesse.night_list($1::date, $2::int)
