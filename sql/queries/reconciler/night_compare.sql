-- SPDX-License-Identifier: Apache-2.0
select outcome, doc from largesse.night_compare($1::date, $2::date)
