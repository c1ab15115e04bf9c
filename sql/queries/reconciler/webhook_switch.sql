-- SPDX-License-Identifier: Apache-2.0
select largesse.webhook_switch($1::text, $2::bool, $3::text, $4::text)
