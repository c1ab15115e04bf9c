-- SPDX-License-Identifier: Apache-2.0
select largesse.reward_json($1::text)
