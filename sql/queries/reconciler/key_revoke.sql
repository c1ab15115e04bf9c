-- SPDX-License-Identifier: Apache-2.0
select largesse.key_revoke($1::text, $2::text, $3::text)
