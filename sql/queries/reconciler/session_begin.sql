-- SPDX-License-Identifier: Apache-2.0
select outcome, name, scopes, expires_at from largesse.session_begin($1::bytea, $2::bytea, $3::bytea)
