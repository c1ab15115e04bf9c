-- SPDX-License-Identifier: Apache-2.0
select seq, doc from largesse.log_list($1::text, $2::text, $3::text, $4::timestamptz, $5::timestamptz, $6::bigint, $7::int)
