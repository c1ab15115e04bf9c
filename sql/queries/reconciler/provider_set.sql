-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, changed, doc from largesse.provider_set($1::text, $2::text, $3::text, $4::text, $5::text, $6::text)
