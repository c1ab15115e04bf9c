-- SPDX-License-Identifier: Apache-2.0
select task, doc from largesse.user_progress_list($1::bigint, $2::text, $3::text, $4::int)
