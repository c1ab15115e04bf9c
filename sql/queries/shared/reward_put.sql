-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, doc from largesse.reward_doc_put($1::json, $2::text, $3::text[], $4::text, $5::text)
