-- SPDX-License-Identifier: Apache-2.0
select verdict, detail from largesse.claim_explain_doc($1::json, $2::timestamptz)
