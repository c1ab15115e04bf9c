-- SPDX-License-Identifier: Apache-2.0
select largesse.night_step($1::date)
