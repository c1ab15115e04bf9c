-- SPDX-License-Identifier: Apache-2.0
select largesse.archive_verified($1::bigint, decode($2::text, 'hex'))
