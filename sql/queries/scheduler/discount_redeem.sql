-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, coupons, doc from largesse.discount_redeem($1::jsonb, $2::text)
