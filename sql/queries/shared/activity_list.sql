-- SPDX-License-Identifier: Apache-2.0
select code, doc::text from largesse.activity_list($1::text, $2::text, $3::int)
