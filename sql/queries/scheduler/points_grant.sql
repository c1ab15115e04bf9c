-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, balance, doc from largesse.points_grant($1::bigint, $2::text, $3::bigint, $4::text, $5::text, $6::boolean)
