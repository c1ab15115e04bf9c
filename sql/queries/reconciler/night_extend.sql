-- SPDX-License-Identifier: Apache-2.0
select largesse.night_extend($1::date, $2::bigint, $3::bigint * interval '1 microsecond')
