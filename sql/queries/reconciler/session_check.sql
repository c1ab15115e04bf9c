-- SPDX-License-Identifier: Apache-2.0
select name, scopes, expires_at from largesse.session_check($1::bytea)
