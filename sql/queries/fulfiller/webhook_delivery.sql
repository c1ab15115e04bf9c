-- SPDX-License-Identifier: Apache-2.0
select state, last_detail, attempts from largesse.webhook_delivery($1::bigint)
