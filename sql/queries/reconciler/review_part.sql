-- SPDX-License-Identifier: Apache-2.0
select largesse.review_part($1::bigint, $2::int, $3::timestamptz, $4::int, $5::int)
