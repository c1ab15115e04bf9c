-- SPDX-License-Identifier: Apache-2.0
select doc from largesse.night_show($1::date)
