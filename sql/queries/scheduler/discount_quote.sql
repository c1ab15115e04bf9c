-- SPDX-License-Identifier: Apache-2.0
select largesse.discount_quote($1::jsonb, $2::timestamptz)
