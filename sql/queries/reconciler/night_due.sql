-- SPDX-License-Identifier: Apache-2.0
select outcome from largesse.night_due($1::text, $2::text::time, $3::int)
