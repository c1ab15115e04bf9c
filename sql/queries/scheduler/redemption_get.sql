-- SPDX-License-Identifier: Apache-2.0
select largesse.redemption_json($1::text)
