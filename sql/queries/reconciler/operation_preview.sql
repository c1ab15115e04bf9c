-- SPDX-License-Identifier: Apache-2.0
select doc
  from largesse.operation_preview($1::text, $2::bigint[], $3::bigint[], $4::bigint[], $5::text, $6::text, $7::text, $8::text,
                                  i_keys => $9::text[], i_state => $10::text, i_finding_kind => $11::text, i_severity => $12::text, i_source => $13::text,
                                  i_is_proved => $14::boolean, i_items => $15::int)
