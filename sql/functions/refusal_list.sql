-- SPDX-License-Identifier: Apache-2.0
-- Refusals of an activity, counted per minute and code; pages by minute.
-- Parameters: i_code; i_from, i_until (null: open; the until is not included); i_after: the last minute of the page before, in seconds since 1970 (0: from the first);
-- i_limit. Result: a row per minute, ascending: exists, key (its seconds), item {minute, total, codes: {code: count}, summary} as JSON text; one row with nulls where the
-- activity has none; exists = false: no such activity. Locks, errors: none.
create or replace function largesse.refusal_list(i_code text, i_from timestamptz, i_until timestamptz, i_after bigint, i_limit int)
returns table (activity_exists boolean, key bigint, item text)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select a.id is not null, m.key, m.item
    from (select) one
    left join largesse.activity a on a.code = i_code
    left join lateral (
      select extract(epoch from r.minute)::bigint as key,
             json_build_object('minute', largesse.time_text(r.minute), 'total', sum(r.refusals), 'codes', json_object_agg(r.code, r.refusals order by r.code),
                               'summary', string_agg(r.code || ' ' || r.refusals, ', ' order by r.code))::text as item
        from largesse.refusal_count r
       where r.activity_id = a.id and r.minute > to_timestamp(i_after) and r.minute >= coalesce(date_trunc('minute', i_from), '-infinity') and r.minute < coalesce(i_until, 'infinity')
       group by r.minute order by r.minute limit i_limit) m on true
$$;
