-- SPDX-License-Identifier: Apache-2.0
select operation_id, verdict
  from largesse.operation_begin($1::text, $2::bigint[], $3::bigint[], $4::bigint[], $5::text, $6::text, $7::text, $8::text,
                                i_keys => $9::text[], i_state => $10::text, i_finding_kind => $11::text, i_severity => $12::text, i_source => $13::text,
                                i_actor => $14::text, i_reason => $15::text, i_proof => $16::text, i_as_delivered => $17::boolean, i_rate => $18::int, i_key => $19::text)
