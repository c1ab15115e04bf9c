-- SPDX-License-Identifier: Apache-2.0
select largesse.provider_leave($1::text)
