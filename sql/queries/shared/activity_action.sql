-- SPDX-License-Identifier: Apache-2.0
select p.outcome, p.detail, p.status, p.version, j.doc::text as doc
  from largesse.activity_action($1::text, $2::text, $3::text, $4::text, $5::bigint) p
  left join lateral largesse.activity_json(case when p.version is not null then $1::text end) j on true
