-- SPDX-License-Identifier: Apache-2.0
-- Sees to it that an activity has all numbers of a range, for event files: where they are there already nothing is touched, whatever has become of the activity.
-- Parameters: i_code, i_from, i_to, i_actor, i_reason. Result: outcome 'ok' or a refusal's code; detail; how many were added. Locks, errors: as numbers_add.
create or replace function largesse.numbers_ensure(i_code text, i_from bigint, i_to bigint, i_actor text, i_reason text default null)
returns table (outcome text, detail text, inserted bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  if (select count(*) from largesse.activity a join largesse.activity_number n on n.activity_id = a.id and n.number between i_from and i_to
       where a.code = i_code) = i_to - i_from + 1 then
    outcome := 'ok'; inserted := 0; return next; return;
  end if;
  return query select n.outcome, n.detail, n.inserted from largesse.numbers_add(i_code, null, i_from, i_to, i_actor, i_reason) n;
end $$;
