-- SPDX-License-Identifier: Apache-2.0
select seq, at_us, actor, action, target, reason, detail, hash_before, hash from largesse.log_rows($1::bigint, $2::int)
