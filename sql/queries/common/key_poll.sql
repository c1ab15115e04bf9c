-- SPDX-License-Identifier: Apache-2.0
select mark, id, hash, name, scopes, expires_us from largesse.key_poll($1::text, $2::bigint[])
