-- SPDX-License-Identifier: Apache-2.0
select place, doc from largesse.key_list($1::boolean, $2::text, $3::int)
