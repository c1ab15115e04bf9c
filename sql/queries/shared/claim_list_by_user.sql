-- SPDX-License-Identifier: Apache-2.0
select claim_id, doc from largesse.claim_list_by_user($1::bigint, $2::bigint, $3::int)
