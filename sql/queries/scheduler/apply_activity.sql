-- SPDX-License-Identifier: Apache-2.0
-- activity_json is volatile: it sees what activity_put has just written.
select p.outcome, p.detail, array_to_string(p.changed, ','), p.version, j.doc::text
  from largesse.activity_put($1::jsonb, $2::text, $3::bigint, $4::text) p
  left join lateral largesse.activity_json(case when p.version is not null then $1::jsonb ->> 'code' end) j on true
