-- SPDX-License-Identifier: Apache-2.0
select name, doc from largesse.webhook_list($1::text, $2::int)
