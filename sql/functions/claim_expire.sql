-- SPDX-License-Identifier: Apache-2.0
-- What ends by itself, by the database's clock: holds that were not paid for, offers that nobody accepted, waiting lists of what is over. And places that are
-- free although somebody waits: after a pause, or because more were free at once than one transaction gives away.

-- Ends what was kept too long; whoever waits first moves up. Parameters: i_activity_id, i_claim_ids, whose deadlines have passed.
-- Result: how many expired. Locks, errors: as claim_move_told.
create or replace function largesse.claim_expire_these(i_activity_id bigint, i_claim_ids bigint[]) returns int
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_due   record;
  v_moved int;
begin
  select array_agg(c.activity_id) as keys, array_agg(c.id) as claims,
         array_agg(case c.status when 'held' then 'HOLD_EXPIRED' else 'OFFER_EXPIRED' end) as codes,
         array_agg('not ' || case c.status when 'held' then 'paid for' else 'accepted' end || ' until ' || largesse.time_text(c.deadline)) as details
    into v_due
    from unnest(largesse.claim_rows_held(array_fill(i_activity_id, array[cardinality(i_claim_ids)]), i_claim_ids)) c where c.status in ('held', 'offered');
  if v_due.keys is null then return 0; end if;
  select count(*) into v_moved from largesse.claim_move(v_due.keys, v_due.claims, 'expired', null, v_due.codes, v_due.details);
  return v_moved;
end $$;

-- Ends the waiting list of an activity that is over, from its beginning. Parameters: i_activity_id, i_limit. Result: how many expired. Locks, errors: as claim_move.
create or replace function largesse.waiting_close(i_activity_id bigint, i_limit int) returns int
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
declare
  v_claims bigint[];
  v_moved  int;
begin
  v_claims := array(select e.claim_id from largesse.waiting_entry e where e.activity_id = i_activity_id order by e.position limit i_limit);
  select count(*) into v_moved
    from largesse.claim_move(array_fill(i_activity_id, array[cardinality(v_claims)]), v_claims, 'expired', null,
      array_fill('NO_PLACE'::text, array[cardinality(v_claims)]), array_fill('no place was free until the end'::text, array[cardinality(v_claims)]));
  return v_moved;
end $$;

-- Activities in which something is due by itself. Parameters: i_at. Result: a row per activity, the longest overdue first; a rush of deadlines hides others
-- until it is worked off. Locks: none. Errors: none.
create or replace function largesse.activities_with_due_claims(i_at timestamptz)
returns table (activity_id bigint, due_at timestamptz)
language sql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
  select w.activity_id, min(w.due_at) from (
    (select c.activity_id, c.deadline as due_at from largesse.claim c where c.deadline <= i_at order by c.deadline limit 1000)
    union all
    select s.activity_id, case when o.refusal is null then i_at when a.end_at <= i_at then a.end_at else a.changed_at end
      from largesse.stock s join largesse.activity a on a.id = s.activity_id
      cross join lateral (select largesse.activity_open_state(a.status, a.start_at, a.end_at, i_at) as refusal) o
      cross join lateral (select e.claim_id, e.quantity from largesse.waiting_entry e where e.activity_id = s.activity_id order by e.position limit 1) first
      join largesse.claim c on c.activity_id = s.activity_id and c.id = first.claim_id and c.status = 'waiting'
     where s.waiting > 0 and (o.refusal = 'ENDED' or o.refusal is null and (s.remaining is null or s.remaining >= first.quantity))) w
  group by 1 order by 2, 1
$$;

-- One step of what is due in one activity. Parameters: i_activity_id; i_limit: claims that end, and claims that move up, at most. Result: a row: how many ended or
-- moved up, and the instant of the step. Locks: as claim_move. Errors: 40P01, 40001 (repeat); 23514 (the books were wrong).
create or replace function largesse.claim_expire_due(i_activity_id bigint, i_limit int, out claims int, out at timestamptz)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_act largesse.activity;
  v_due bigint[];
begin
  perform 1 from largesse.stock s where s.activity_id = i_activity_id order by s.segment for update;
  at := largesse.clock_now();
  select * into v_act from largesse.activity a where a.id = i_activity_id;
  v_due := array(select c.id from largesse.claim c where c.activity_id = v_act.id and c.deadline <= at order by c.deadline, c.id limit i_limit);
  claims := case when v_due <> '{}' then largesse.claim_expire_these(v_act.id, v_due)
                 when largesse.activity_open_state(v_act.status, v_act.start_at, v_act.end_at, at) = 'ENDED' then largesse.waiting_close(v_act.id, i_limit)
                 else largesse.waiting_promote(v_act.id, i_limit) end;
end $$;

-- The same where one claim raises an error each time, because somebody changed its books by hand: what is kept too long ends one by one, and that one stays.
-- Parameters, result, locks: as claim_expire_due. Errors: 40P01, 40001 (repeat).
create or replace function largesse.claim_expire_singly(i_activity_id bigint, i_limit int, out claims int, out at timestamptz)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_claim bigint;
begin
  claims := 0;
  at := largesse.clock_now();
  for v_claim in select c.id from largesse.claim c where c.activity_id = i_activity_id and c.deadline <= at order by c.deadline, c.id limit i_limit loop
    begin
      perform 1 from largesse.stock s where s.activity_id = i_activity_id order by s.segment for update;
      claims := claims + largesse.claim_expire_these(i_activity_id, array[v_claim]);
    exception when integrity_constraint_violation or data_exception then
      raise warning 'claim %-% cannot expire: %', i_activity_id, v_claim, sqlerrm;
    end;
  end loop;
end $$;

-- One step of what is due by itself, in one activity; two who do this at once work on different ones, and nothing is done twice. An activity whose books are wrong
-- holds up no other.
-- Parameters: i_limit: claims that end, and claims that move up, at most. Result: one row: the activity, how many ended or moved up, since when the oldest
-- of it was due, and the instant of the step; no row: nothing is due, or somebody else is at it. Locks: as claim_move. Errors: 40P01, 40001 (repeat).
create or replace function largesse.claim_expire(i_limit int)
returns table (activity_code text, claims int, due_at timestamptz, at timestamptz)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_work   record;
  v_is_bad boolean;
begin
  for v_work in select w.activity_id, w.due_at from largesse.activities_with_due_claims(largesse.clock_now()) w loop
    continue when not pg_try_advisory_xact_lock(hashtextextended('largesse.claim_expire.' || v_work.activity_id, 0));
    v_is_bad := false;
    begin
      select e.claims, e.at into claims, at from largesse.claim_expire_due(v_work.activity_id, i_limit) e;
    exception when integrity_constraint_violation or data_exception then
      raise warning 'claims of activity % do not expire together: %', v_work.activity_id, sqlerrm;
      v_is_bad := true;
    end;
    if v_is_bad then select e.claims, e.at into claims, at from largesse.claim_expire_singly(v_work.activity_id, i_limit) e; end if;
    if claims > 0 then
      select a.code into activity_code from largesse.activity a where a.id = v_work.activity_id;
      due_at := v_work.due_at;
      return next;
    end if;
    -- Somebody else was faster, or what was due is done; and no stock of one activity is kept while working on another.
    if claims > 0 or not v_is_bad then return; end if;
  end loop;
end $$;
