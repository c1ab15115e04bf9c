-- SPDX-License-Identifier: Apache-2.0
-- How schedulers know of each other: a row each, written about once a second.

-- Says that a scheduler lives. Those not seen for a day are forgotten.
-- Parameters: i_instance. Result: how many live, this one among them; one counts for five seconds after it was last seen. Locks: its row. Errors: none.
create or replace function largesse.scheduler_seen(i_instance text) returns int
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  insert into largesse.scheduler_instance as i (instance, started_at, seen_at) values (i_instance, v_now, v_now)
    on conflict (instance) do update set seen_at = excluded.seen_at;
  delete from largesse.scheduler_instance i where i.seen_at < v_now - interval '1 day';
  return (select count(*) from largesse.scheduler_instance i where i.instance = i_instance or i.seen_at > v_now - interval '5 seconds');
end $$;

-- A scheduler ends: the others have its share at once. Parameters: i_instance. Result: whether it was there. Locks: its row. Errors: none.
create or replace function largesse.scheduler_leave(i_instance text) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  delete from largesse.scheduler_instance i where i.instance = i_instance;
  return found;
end $$;
