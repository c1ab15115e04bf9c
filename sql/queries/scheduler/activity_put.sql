-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, array_to_string(changed, ','), version from largesse.activity_put($1::jsonb, $2::text, $3::bigint)
