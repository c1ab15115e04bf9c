-- SPDX-License-Identifier: Apache-2.0
select outcome, null::text, inserted, duplicates, rejected_count, rejected
  from largesse.points_grant_many($1::int[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text, $7::text)
