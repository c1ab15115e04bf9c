-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, status, version from largesse.activity_action($1::text, $2::text, $3::text, $4::text, $5::bigint)
