-- SPDX-License-Identifier: Apache-2.0
-- Dead letters in the order that people ask for, page by page.

-- A letter remembers how many calls had been made when it was opened.
-- Parameters: the new row. Result: the same with its attempts. Locks: none. Errors: none.
create or replace function largesse.dead_letter_attempts() returns trigger
language plpgsql security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  -- Written so that only the key's index serves it, whatever the planner believes of a young table.
  select c.attempts into new.attempts from largesse.claim c
   where c.activity_id = new.activity_id and c.id between new.claim_id and new.claim_id order by c.id limit 1;
  new.attempts := coalesce(new.attempts, 0);
  return new;
end $$;
drop trigger if exists dead_letter_attempts on largesse.dead_letter;
create trigger dead_letter_attempts before insert on largesse.dead_letter for each row execute function largesse.dead_letter_attempts();

-- Written out for each order, so that each page comes from an index, however many letters there are and however many are closed.
-- Parameters: i_sort: openedAt, attempts, each also with a minus for the other direction; i_state (open, closed, all); i_provider, i_cause, i_activity_code,
-- i_fingerprint (null: any); i_after: the place of the last one seen ('' to begin): an id, or attempts and id with a point between; i_limit.
-- Result: place and JSON text per letter. Locks: none. Errors: invalid_parameter_value for another sort, state or place.
create or replace function largesse.dead_letter_sorted(
  i_sort text, i_state text, i_provider text, i_cause text, i_activity_code text, i_fingerprint text, i_after text, i_limit int)
returns table (place text, doc text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_is_down boolean := left(i_sort, 1) = '-';
  v_key     text := case ltrim(i_sort, '-') when 'openedAt' then 'd.id' when 'attempts' then 'd.attempts, d.id' end;
  v_place   text := case ltrim(i_sort, '-') when 'openedAt' then '^[0-9]{1,18}$' when 'attempts' then '^[0-9]{1,9}[.][0-9]{1,18}$' end;
begin
  if v_key is null or i_state not in ('open', 'closed', 'all') or (i_after <> '' and i_after !~ v_place) then
    raise invalid_parameter_value using message = 'no such order, state or place';
  end if;
  return query execute
    'select replace(concat_ws(''.'', ' || v_key || '), '' '', ''''), largesse.dead_letter_json(d, false)
       from (select d.* from largesse.dead_letter d where true'
    || case i_state when 'open' then ' and d.closed_at is null' when 'closed' then ' and d.closed_at is not null' else '' end
    || case when i_after <> '' then format(' and (%s) %s (%s)', v_key, case when v_is_down then '<' else '>' end, replace(i_after, '.', ', ')) else '' end
    || largesse.dead_letter_conditions(i_provider, i_cause, i_activity_code, i_fingerprint)
    || format(' order by %s limit $1) d order by %1$s', case when v_is_down then replace(v_key, ',', ' desc,') || ' desc' else v_key end)
    using i_limit;
end $$;
