-- SPDX-License-Identifier: Apache-2.0
select outcome, detail
  from largesse.archive_confirm($1::bigint, $2::text, decode($3::text, 'hex'), $4::bigint, $5::bigint, $6::text, $7::text, $8::timestamptz, $9::text, $10::text)
