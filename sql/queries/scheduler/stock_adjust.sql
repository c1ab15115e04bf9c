-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, total, remaining from largesse.stock_adjust($1::text, $2::text, $3::bigint, $4::text, $5::text)
