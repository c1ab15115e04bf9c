-- SPDX-License-Identifier: Apache-2.0
select largesse.scheduler_seen($1::text)
