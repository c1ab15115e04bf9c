-- SPDX-License-Identifier: Apache-2.0
select largesse.claim_get_by_biz($1::text, $2::text)
