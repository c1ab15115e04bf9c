-- SPDX-License-Identifier: Apache-2.0
select seq, business_date from largesse.log_night_fault($1::bigint)
