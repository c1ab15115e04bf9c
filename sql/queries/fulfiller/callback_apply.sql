-- SPDX-License-Identifier: Apache-2.0
select verdict, letter_id, biz_id, activity_code, replace(trace::text, '-', '') as trace
  from largesse.callback_apply($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::text, $7::text, $8::text, $9::text, $10::text, $11::bigint,
                               $12::timestamptz, $13::text, $14::uuid, $15::boolean)
