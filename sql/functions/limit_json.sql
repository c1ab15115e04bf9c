-- SPDX-License-Identifier: Apache-2.0
-- Why a limit refused: the rule, the limit, what is used, when it resets.
-- Parameters: i_period, i_limit, i_count, i_resets_at (null: never). Result: JSON members as text. Locks: none. Errors: none.
create or replace function largesse.limit_json(i_period text, i_limit bigint, i_count bigint, i_resets_at timestamptz) returns text
language sql stable
as $$
  select json_strip_nulls(json_build_object('rule', 'limit.' || i_period, 'limit', i_limit, 'count', i_count,
                                            'resetsAt', largesse.time_text(i_resets_at)))::text
$$;
