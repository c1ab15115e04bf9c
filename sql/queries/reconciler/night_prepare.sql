-- SPDX-License-Identifier: Apache-2.0
select largesse.night_prepare($1::date)
