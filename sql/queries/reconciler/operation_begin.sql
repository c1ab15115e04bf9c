-- SPDX-License-Identifier: Apache-2.0
select operation_id, verdict
  from largesse.operation_begin($1::text, $2::bigint[], $3::bigint[], $4::bigint[], $5::text, $6::text, $7::text, $8::text, $9::text, $10::text, $11::text, $12::boolean,
                                $13::int, $14::text)
