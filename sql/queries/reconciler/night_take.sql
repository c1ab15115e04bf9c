-- SPDX-License-Identifier: Apache-2.0
select outcome, to_char(business_date, 'YYYY-MM-DD'), token, is_resumed
  from largesse.night_take($1::date, $2::text, $3::text::time, $4::int, $5::text, $6::bigint * interval '1 microsecond', $7::boolean)
