-- SPDX-License-Identifier: Apache-2.0
select largesse.scheduler_leave($1::text)
