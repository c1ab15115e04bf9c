-- SPDX-License-Identifier: Apache-2.0
-- activity_json is volatile: it sees what activity_doc_put has just written.
select p.outcome, p.detail, p.version, j.doc::text as doc
  from largesse.activity_doc_put($1::json, $2::text, $3::text[], $4::text[], $5::text, $6::bigint, $7::text) p
  left join lateral largesse.activity_json(case when p.version is not null then p.code end) j on true
