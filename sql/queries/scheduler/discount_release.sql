-- SPDX-License-Identifier: Apache-2.0
select outcome, doc from largesse.discount_release($1::text, $2::text)
