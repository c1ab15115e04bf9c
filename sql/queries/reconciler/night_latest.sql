-- SPDX-License-Identifier: Apache-2.0
select to_char(largesse.night_latest($1::text, null), 'YYYY-MM-DD')
