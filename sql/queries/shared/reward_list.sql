-- SPDX-License-Identifier: Apache-2.0
select code, doc from largesse.reward_list($1::text, $2::int)
