-- SPDX-License-Identifier: Apache-2.0
select to_char($1::timestamptz at time zone $2::text, 'YYYYMMDD'), to_char($1::timestamptz at time zone $2::text, 'HH24MISS')
