-- SPDX-License-Identifier: Apache-2.0
-- The clock: opens what is due to open, then finishes what is due to finish, by the database's time. Any number of schedulers may call it at once;
-- each activity moves once; a missed stretch is caught up in order (ongoing, then finished).
-- Parameters: i_limit activities at most. Result: a row per move: code, new status, the instant it was due, the instant it moved. Fewer rows than
-- i_limit: nothing more is due now. Locks: those activities, skipping locked ones. Errors: none.
create or replace function largesse.activity_advance(i_limit int)
returns table (code text, to_status text, due_at timestamptz, moved_at timestamptz)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
  v_due bigint[];
begin
  for i in 1 .. 2 loop
    to_status := case i when 1 then 'ongoing' else 'finished' end;
    v_due := array(
      select a.id from largesse.activity a
       where a.status in ('published', 'ongoing', 'paused')
         and case a.status when 'published' then a.start_at else a.end_at end <= v_now
         and (a.status = 'published') = (i = 1)
       order by case a.status when 'published' then a.start_at else a.end_at end, a.id
       limit i_limit for no key update skip locked);
    return query
      -- Nothing is due before it was published: the lag of a late publication is not the clock's.
      select m.code, to_status,
             greatest(case i when 1 then a.start_at else a.end_at end,
                      (select max(h.at) from largesse.activity_history h where h.activity_id = a.id and h.to_status in ('published', 'paused'))),
             v_now
        from largesse.activity_move(v_due, to_status, 'clock', null) m join largesse.activity a on a.id = m.activity_id;
  end loop;
end $$;

-- When the clock has to work next. Parameters: none. Result: seconds from now until the next move is due (0 or less: now; null: none), and the
-- database's instant. Locks: none. Errors: none.
create or replace function largesse.activity_next_due(out due_in_us bigint, out at timestamptz)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  at := largesse.clock_now();
  select extract(epoch from a.due - at) * 1000000 into due_in_us from (
    select case a.status when 'published' then a.start_at else a.end_at end as due from largesse.activity a
     where a.status in ('published', 'ongoing', 'paused')
     order by 1 limit 1) a;
end $$;
