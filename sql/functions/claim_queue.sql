-- SPDX-License-Identifier: Apache-2.0
-- Queued intake: requests are kept in the order in which they came and judged at the pace of the back end, by the instant at which they were queued.
-- One activity is judged by one transaction at a time, so that its order holds; different activities by different schedulers, in turn.

-- How long the verdict of a refused request is kept. Parameters: none. Result: the time. Locks, errors: none.
create or replace function largesse.claim_queue_keeps() returns interval language sql immutable as $$ select interval '1 hour' $$;

-- A queued request as the API shows it. Parameters: the row, the activity's code, how many of the activity were judged. Result: JSON text. Locks, errors: none.
create or replace function largesse.claim_queue_json(i_row largesse.claim_queue, i_code text, i_judged bigint) returns text
language sql stable
as $$
  select json_strip_nulls(json_build_object('status', case when i_row.verdict is null then 'queued' else 'refused' end,
    'position', case when i_row.verdict is null then greatest(1, i_row.place - i_judged) end,
    'location', format('/v1/claims/%s/%s', i_code, i_row.biz_id),
    'activityCode', i_code, 'userId', i_row.user_id::text, 'bizId', i_row.biz_id, 'quantity', i_row.quantity, 'numbers', i_row.numbers, 'channel', i_row.channel,
    'queuedAt', largesse.time_text(i_row.queued_at), 'judgedAt', largesse.time_text(i_row.judged_at)))::text
$$;

-- Whether a queued row and a request mean the same. Parameters: both. Result: true or false. Locks, errors: none.
create or replace function largesse.claim_queue_is_same(i_row largesse.claim_queue, i_user_id bigint, i_quantity int, i_channel text, i_numbers bigint[]) returns boolean
language sql immutable
as $$
  select largesse.request_is_same(i_row.user_id, i_row.quantity, i_row.channel, i_row.numbers, i_user_id, i_quantity, i_channel, i_numbers)
$$;

-- What is known of some requests: accepted, queued, or refused within the time for which that is kept.
-- Parameters: i_activity_id, i_code; one array element per request (i_number_sets: a text such as {3,17} each, or null); i_judged; i_now.
-- Result: a row per request (ord from 1): verdict as claim_enqueue's, null where nothing is known. Locks: none; read only. Errors: none.
create or replace function largesse.claim_queue_known(
  i_activity_id bigint, i_code text, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[], i_number_sets text[], i_judged bigint, i_now timestamptz)
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language sql stable
as $$
  select r.ord::int,
         case when c.id is not null then case when c.is_same then 'REPLAYED' else 'BIZ_ID_REUSED' end
              when (q.row).place is null then null
              when not q.is_same then 'BIZ_ID_REUSED'
              else coalesce((q.row).verdict, 'QUEUED') end,
         c.id, case when c.id is not null then c.status when (q.row).place is not null then 'known' end,
         coalesce(c.created_at, (q.row).queued_at, i_now),
         case when c.id is not null then case when c.is_same then largesse.claim_json(c.row, i_code) end
              when q.is_same and (q.row).verdict is null then largesse.claim_queue_json(q.row, i_code, i_judged)
              when q.is_same then (q.row).detail end
    from unnest(i_biz_ids, i_user_ids, i_quantities, i_channels, i_number_sets) with ordinality as r(biz_id, user_id, quantity, channel, numbers, ord)
    left join lateral (
      select c.id, c.status, c.created_at, c as row,
             largesse.request_is_same(c.user_id, c.quantity, c.channel, c.numbers, r.user_id, r.quantity, r.channel, r.numbers::bigint[]) as is_same
        from largesse.claim c where c.activity_id = i_activity_id and c.biz_id = r.biz_id limit 1) c on true
    left join lateral (
      select q as row, largesse.claim_queue_is_same(q, r.user_id, r.quantity, r.channel, r.numbers::bigint[]) as is_same
        from largesse.claim_queue q
       where q.activity_id = i_activity_id and q.biz_id = r.biz_id and (q.judged_at is null or q.judged_at > i_now - largesse.claim_queue_keeps()) limit 1) q on true
   order by r.ord
$$;

-- Puts requests of an activity into its queue, or tells what became of them.
-- Parameters: i_activity_id; one array element per request (i_traces: their traceparent); i_number_ords, i_numbers as claim_submit; i_queue_max: how many may wait;
-- i_may_add: false only looks (what memory would refuse).
-- Result: as claim_submit, with further verdicts: QUEUED (status: queued, or known when it was there already; detail = the queued request as JSON), QUEUE_FULL, and
-- UNKNOWN where nothing may be added; a refusal that is kept is told again. What an activity that is not open would refuse is refused at once.
-- Locks: the activity's row of claim_queue_tail, then queue rows. Errors: none.
create or replace function largesse.claim_enqueue(
  i_activity_id bigint, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[], i_number_ords int[], i_numbers bigint[], i_traces text[],
  i_queue_max bigint, i_may_add boolean)
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_activity record;
  v_sets     text[] := largesse.claim_number_sets(cardinality(i_biz_ids), i_number_ords, i_numbers);
  v_refusal  text;
  v_queued   bigint;
  v_judged   bigint;
  v_now      timestamptz;
  v_added    bigint;
begin
  if i_may_add then
    select t.queued into v_queued from largesse.claim_queue_tail t where t.activity_id = i_activity_id for update;
    if not found then
      insert into largesse.claim_queue_head (activity_id, judged, turn_at) values (i_activity_id, 0, '-infinity') on conflict do nothing;
      insert into largesse.claim_queue_tail (activity_id, queued) values (i_activity_id, 0) on conflict do nothing;
      select t.queued into v_queued from largesse.claim_queue_tail t where t.activity_id = i_activity_id for update;
    end if;
  end if;
  v_now := largesse.clock_now();
  select a.code, a.status, largesse.activity_open_state(a.status, a.start_at, a.end_at, v_now) as refusal, sum(s.remaining)::bigint as remaining into v_activity
    from largesse.activity a left join largesse.stock s on s.activity_id = a.id where a.id = i_activity_id group by a.id;
  v_refusal := case when not found then 'ACTIVITY_NOT_FOUND' when not i_may_add then 'UNKNOWN' else v_activity.refusal end;
  ord := 0; verdict := v_activity.status; claim_id := v_activity.remaining; status := null; at := v_now; detail := null;
  return next;
  if v_refusal is null then
    -- A verdict whose time is over makes room for the same click.
    delete from largesse.claim_queue q using unnest(i_biz_ids) b(biz_id)
     where q.activity_id = i_activity_id and q.biz_id = b.biz_id and q.judged_at <= v_now - largesse.claim_queue_keeps();
  end if;
  select h.judged into v_judged from largesse.claim_queue_head h where h.activity_id = i_activity_id;
  return query
    with r as materialized (
      select k.*, r.biz_id, r.user_id, r.quantity, r.channel, r.trace, r.numbers::bigint[] as numbers,
             -- The first of several with one bizId is queued; the others are the same click, or none.
             min(k.ord) over (partition by r.biz_id collate "C") as first_ord
        from largesse.claim_queue_known(i_activity_id, v_activity.code, i_biz_ids, i_user_ids, i_quantities, i_channels, v_sets, coalesce(v_judged, 0), v_now) k
        join unnest(i_biz_ids, i_user_ids, i_quantities, i_channels, i_traces, v_sets) with ordinality as r(biz_id, user_id, quantity, channel, trace, numbers, nth)
          on r.nth = k.ord
    ), placed as materialized (
      select r.ord, v_queued + row_number() over (order by r.ord) as place from r where r.verdict is null and r.ord = r.first_ord
    ), added as (
      insert into largesse.claim_queue as q (activity_id, place, biz_id, user_id, quantity, channel, numbers, trace, queued_at)
        select i_activity_id, p.place, r.biz_id, r.user_id, r.quantity, r.channel, r.numbers, r.trace, v_now
          from placed p join r using (ord)
         where v_refusal is null and p.place - coalesce(v_judged, 0) <= i_queue_max
         order by p.place
      returning q as row
    ), counted as (
      update largesse.claim_queue_tail t set queued = t.queued + n.added from (select count(*) as added from added) n
       where t.activity_id = i_activity_id and n.added > 0
    )
    select r.ord,
           case when r.verdict is not null then r.verdict
                when v_refusal is not null then v_refusal
                when (a.row).place is null then 'QUEUE_FULL'
                when largesse.claim_queue_is_same(a.row, r.user_id, r.quantity, r.channel, r.numbers) then 'QUEUED' else 'BIZ_ID_REUSED' end,
           r.claim_id, case when r.verdict is not null then r.status when (a.row).place is null then null when r.ord = r.first_ord then 'queued' else 'known' end, r.at,
           case when r.verdict is not null then r.detail
                when (a.row).place is not null and largesse.claim_queue_is_same(a.row, r.user_id, r.quantity, r.channel, r.numbers)
                then largesse.claim_queue_json(a.row, v_activity.code, coalesce(v_judged, 0)) end
      from r left join placed p on p.ord = r.first_ord left join added a on (a.row).place = p.place
     order by r.ord;
end $$;

-- Judges some requests of one activity, and takes out those that became claims.
-- Parameters: i_activity_id, i_places; i_sweep_after as claim_submit. Result: a row per place with its verdict; PAUSED ones keep waiting.
-- Locks: as claim_submit; the caller holds the activity's row of claim_queue_head. Errors: those of claim_submit.
create or replace function largesse.claim_queue_judge(i_activity_id bigint, i_places bigint[], i_sweep_after interval)
returns table (place bigint, verdict text, claim_id bigint, status text)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v record;
begin
  select array_agg(q.place order by q.place) as places, array_agg(q.biz_id order by q.place) as biz_ids, array_agg(q.user_id order by q.place) as user_ids,
         array_agg(q.quantity order by q.place) as quantities, array_agg(q.channel order by q.place) as channels, array_agg(q.queued_at order by q.place) as queued_at
    into v from largesse.claim_queue q where q.activity_id = i_activity_id and q.place = any (i_places);
  return query
    with judged as materialized (
      select v.places[s.ord] as place, s.verdict, s.claim_id, s.status, s.at, s.detail
        from largesse.claim_submit(i_activity_id, v.biz_ids, v.user_ids, v.quantities, v.channels, i_sweep_after,
               (select array_agg(array_position(v.places, q.place) order by q.place, n.number) from largesse.claim_queue q, unnest(q.numbers) n(number)
                 where q.activity_id = i_activity_id and q.place = any (i_places)),
               (select array_agg(n.number order by q.place, n.number) from largesse.claim_queue q, unnest(q.numbers) n(number)
                 where q.activity_id = i_activity_id and q.place = any (i_places)),
               v.queued_at) s
       where s.ord > 0
    ), taken_out as (
      delete from largesse.claim_queue q using judged j where q.activity_id = i_activity_id and q.place = j.place and j.verdict in ('ACCEPTED', 'REPLAYED')
    ), kept as (
      update largesse.claim_queue q set verdict = j.verdict, detail = j.detail, judged_at = largesse.clock_now()
        from judged j where q.activity_id = i_activity_id and q.place = j.place and j.verdict not in ('ACCEPTED', 'REPLAYED', 'PAUSED')
    )
    select j.place, j.verdict, j.claim_id, j.status from judged j;
end $$;

-- The same, though a request may raise an error: then each is judged by itself, and that one is refused.
-- Parameters, result, locks: as claim_queue_judge. Errors: 40001 (repeat).
create or replace function largesse.claim_queue_judge_safely(i_activity_id bigint, i_places bigint[], i_sweep_after interval)
returns table (place bigint, verdict text, claim_id bigint, status text)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_place bigint;
begin
  begin
    return query select * from largesse.claim_queue_judge(i_activity_id, i_places, i_sweep_after);
    return;
  exception when data_exception or integrity_constraint_violation then
    null;
  end;
  foreach v_place in array i_places loop
    begin
      return query select * from largesse.claim_queue_judge(i_activity_id, array[v_place], i_sweep_after);
    exception when data_exception or integrity_constraint_violation then
      update largesse.claim_queue q set verdict = 'INVALID_REQUEST', judged_at = largesse.clock_now() where q.activity_id = i_activity_id and q.place = v_place;
      place := v_place; verdict := 'INVALID_REQUEST'; claim_id := null; status := null;
      return next;
    end;
  end loop;
end $$;

-- Judges the next requests of the activity that waited for its turn for longest. Paused activities wait, and so does one that another transaction judges.
-- Parameters: i_rows at most; i_sweep_after as claim_submit. Result: a row per request that was judged; none when nothing can be. provider: whose lane has to hear of
-- an accepted one, null without.
-- Locks: the activity's row of claim_queue_head, then as claim_submit, queue rows, refusal counters. Errors: 40001 (repeat).
create or replace function largesse.claim_queue_step(i_rows int, i_sweep_after interval)
returns table (activity_id bigint, activity_code text, biz_id text, user_id bigint, quantity int, trace text, queued_at timestamptz, verdict text, claim_id bigint, status text,
               provider text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_activity_id bigint;
  v_judged      int;
  v_rows        jsonb;
begin
  select h.activity_id into v_activity_id
    from largesse.claim_queue_head h
    join largesse.claim_queue_tail t on t.activity_id = h.activity_id
    join largesse.activity a on a.id = h.activity_id
   where t.queued > h.judged and a.status not in ('paused', 'draft')
   order by h.turn_at, h.activity_id limit 1 for update of h skip locked;
  if not found then return; end if;
  with next as materialized (
    select q.place, q.biz_id, q.user_id, q.quantity, q.trace, q.queued_at
      from largesse.claim_queue q where q.activity_id = v_activity_id and q.verdict is null order by q.place limit i_rows
  ), judged as materialized (
    select j.* from (select array_agg(n.place order by n.place) as places from next n) n
     cross join lateral largesse.claim_queue_judge_safely(v_activity_id, n.places, i_sweep_after) j
     where n.places is not null
  )
  select jsonb_agg(to_jsonb(n) || to_jsonb(j) order by n.place) into v_rows from next n join judged j using (place) where j.verdict <> 'PAUSED';
  v_judged := coalesce(jsonb_array_length(v_rows), 0);
  update largesse.claim_queue_head h set judged = h.judged + v_judged, turn_at = largesse.clock_now() where h.activity_id = v_activity_id;
  if v_judged = 0 then return; end if;
  perform largesse.refusal_add(array_agg(v_activity_id), array_agg(r.verdict), array_agg(r.refusals))
    from (select j ->> 'verdict' as verdict, count(*) as refusals from jsonb_array_elements(v_rows) j
           where j ->> 'verdict' not in ('ACCEPTED', 'REPLAYED') group by 1 order by 1) r having count(*) > 0;
  return query
    select a.id, a.code, j.biz_id, j.user_id, j.quantity, j.trace, j.queued_at, j.verdict, j.claim_id, j.status,
           case when j.verdict = 'ACCEPTED' then case j.status when 'held' then p.provider when 'issuing' then w.provider end end
      from largesse.activity a
      left join largesse.reward w on w.id = a.reward_id
      left join largesse.reward p on p.id = a.payment_id
     cross join lateral jsonb_to_recordset(v_rows) as j(place bigint, biz_id text, user_id bigint, quantity int, trace text, queued_at timestamptz, verdict text,
                                                        claim_id bigint, status text)
     where a.id = v_activity_id order by j.place;
end $$;

-- How many requests wait, over all activities, and how long the oldest has. Parameters: none. Result: one row. Locks, errors: none.
create or replace function largesse.claim_queue_figures() returns table (waiting bigint, oldest_ms bigint)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select coalesce(sum(t.queued - h.judged), 0)::bigint, coalesce(max(o.age_ms), 0)::bigint
    from largesse.claim_queue_tail t join largesse.claim_queue_head h using (activity_id)
    left join lateral (
      select greatest(0, extract(epoch from largesse.clock_now() - q.queued_at) * 1000)::bigint as age_ms
        from largesse.claim_queue q where q.activity_id = t.activity_id and q.verdict is null order by q.place limit 1) o on t.queued > h.judged
$$;

-- Forgets verdicts that were kept long enough. Parameters: i_rows at most. Result: how many. Locks: those rows. Errors: none.
create or replace function largesse.claim_queue_purge(i_rows int) returns bigint
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  with old as materialized (
    select q.activity_id, q.place from largesse.claim_queue q
     where q.verdict is not null and q.judged_at <= largesse.clock_now() - largesse.claim_queue_keeps()
     order by q.judged_at limit i_rows for update skip locked
  ), gone as (
    delete from largesse.claim_queue q using old o where q.activity_id = o.activity_id and q.place = o.place returning 1
  )
  select count(*) from gone
$$;

-- What became of a request that was queued. Parameters: the activity's code, the bizId. Result: one row: verdict (null: it waits), its detail, the request as JSON;
-- none without one. Locks, errors: none.
create or replace function largesse.claim_queue_show(i_code text, i_biz_id text) returns table (verdict text, detail text, request text)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select q.verdict, q.detail, largesse.claim_queue_json(q, a.code, coalesce(h.judged, 0))
    from largesse.activity a
    join largesse.claim_queue q on q.activity_id = a.id and q.biz_id = i_biz_id
    left join largesse.claim_queue_head h on h.activity_id = a.id
   where a.code = i_code and (q.judged_at is null or q.judged_at > largesse.clock_now() - largesse.claim_queue_keeps())
$$;
