-- SPDX-License-Identifier: Apache-2.0
select doc from largesse.review_end($1::text, $2::text, $3::timestamptz, $4::int, $5::int, $6::text[])
