-- SPDX-License-Identifier: Apache-2.0
select largesse.archive_open($1::bigint, $2::text)::text
