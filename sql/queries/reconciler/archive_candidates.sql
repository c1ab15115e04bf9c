-- SPDX-License-Identifier: Apache-2.0
select activity_id, code from largesse.archive_candidates(($1::date)::timestamp at time zone $2::text, $3::bigint, $4::int)
