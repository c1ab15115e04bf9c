-- SPDX-License-Identifier: Apache-2.0
select largesse.user_progress_put($1::bigint, $2::text, ($3::jsonb ->> 'value')::numeric)
