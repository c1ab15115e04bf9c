-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, changed, doc from largesse.provider_resume($1::text, $2::text, $3::text)
