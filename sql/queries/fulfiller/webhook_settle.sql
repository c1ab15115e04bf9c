-- SPDX-License-Identifier: Apache-2.0
select disabled_by
  from largesse.webhook_settle($1::text, $2::bigint[], $3::int[], $4::text[], $5::int[], $6::text[], $7::bigint[], $8::bigint * interval '1 microsecond')
