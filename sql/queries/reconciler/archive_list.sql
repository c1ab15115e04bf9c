-- SPDX-License-Identifier: Apache-2.0
select place, doc from largesse.archive_list($1::text, $2::bigint, $3::int)
