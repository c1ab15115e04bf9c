-- SPDX-License-Identifier: Apache-2.0
select largesse.user_attributes_get($1::bigint)
