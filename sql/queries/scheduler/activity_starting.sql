-- SPDX-License-Identifier: Apache-2.0
select code, start_at from largesse.activity_starting($1::interval)
