-- SPDX-License-Identifier: Apache-2.0
-- Matching statements of providers with what we hold, set by set: lines against claims, then claims against lines.

-- What we hold to have moved at a provider, with its money. Parameters: i_provider, i_from: nothing that changed last before it is looked at. Result: a row per movement: kind,
-- when it was done and when it was begun, amount (null: none), the provider's reference. What a person has said was delivered by other means is none. Locks, errors: none.
create or replace function largesse.statement_movements(i_provider text, i_from timestamptz)
returns table (activity_id bigint, claim_id bigint, kind text, at timestamptz, began_at timestamptz, amount bigint, currency text, ref text, user_id bigint)
language sql stable
as $$
  select m.activity_id, m.id, m.kind, m.at, coalesce(m.began_at, m.at), m.amount * m.quantity, m.currency, m.ref, m.user_id
    from (select c.activity_id, c.id, 'credit' as kind, case when largesse.claim_credit_state(c) = 'done' then coalesce(c.succeeded_at, c.reversal_since, c.updated_at) end as at,
                 coalesce(c.issued_at, c.created_at) as began_at, w.amount, c.quantity, w.currency, c.provider_ref as ref, c.user_id
            from largesse.claim c join largesse.reward w on w.id = c.reward_id and w.provider = i_provider
           where c.updated_at >= i_from
             and not (coalesce(c.outcome, '') <> 'done'
                      and exists (select from largesse.dead_letter d where d.activity_id = c.activity_id and d.claim_id = c.id and d.resolution = 'resolved'))
             -- What was given up and is being taken back to be sure may never have been delivered.
             and not (c.succeeded_at is null and c.status <> 'succeeded' and coalesce(c.outcome, '') <> 'done')
          union all
          select c.activity_id, c.id, 'reverse', c.reversed_at, c.reversal_since, w.amount, c.quantity, w.currency, c.provider_ref, c.user_id
            from largesse.claim c join largesse.reward w on w.id = c.reward_id and w.provider = i_provider
           where c.updated_at >= i_from and c.reversed_at is not null
          union all
          select c.activity_id, c.id, 'payment', coalesce(c.paid_at, c.updated_at), c.created_at, w.amount, c.quantity, w.currency, c.payment_ref, c.user_id
            from largesse.claim c join largesse.reward w on w.id = c.payment_id and w.provider = i_provider
           where c.updated_at >= i_from and c.payment = 'done'
          union all
          select c.activity_id, c.id, 'refund', coalesce(c.refunded_at, c.updated_at), c.refund_since, w.amount, c.quantity, w.currency, c.payment_ref, c.user_id
            from largesse.claim c join largesse.reward w on w.id = c.payment_id and w.provider = i_provider
           where c.updated_at >= i_from and c.refund = 'done') m
   where m.at >= i_from
$$;

-- What we hold of a movement: done; open: under way; kept: it was not even begun; not: it did not happen and will not; none: we know nothing of it.
-- Parameters: i_claim. Result: the word. Locks, errors: none.
create or replace function largesse.claim_credit_state(i_claim largesse.claim) returns text
language sql immutable
as $$
  select case when i_claim.status = 'succeeded' or i_claim.reversal is not null then 'done'
              when i_claim.status in ('rolled_back', 'cancelled') and i_claim.succeeded_at is not null then 'done'
              when i_claim.status in ('issuing', 'held', 'offered', 'waiting') then 'open'
              else 'not' end
$$;
create or replace function largesse.claim_reverse_state(i_claim largesse.claim) returns text
language sql immutable
as $$
  select case when i_claim.reversed_at is not null or i_claim.status = 'rolled_back' then 'done'
              when i_claim.reversal in ('owed', 'pending', 'retry', 'unknown') or i_claim.status = 'issuing' then 'open'
              when i_claim.reversal is null and i_claim.status = 'succeeded' then 'kept'
              else 'not' end
$$;
create or replace function largesse.claim_payment_state(i_claim largesse.claim) returns text
language sql immutable
as $$
  select case when i_claim.payment = 'done' then 'done' when i_claim.payment in ('due', 'pending', 'retry', 'unknown') then 'open'
              when i_claim.payment is null then 'none' else 'not' end
$$;
create or replace function largesse.claim_refund_state(i_claim largesse.claim) returns text
language sql immutable
as $$
  select case when i_claim.refund = 'done' then 'done' when i_claim.refund in ('owed', 'pending', 'retry', 'unknown') then 'open'
              when i_claim.refund is null and i_claim.payment = 'done' then 'kept' when i_claim.payment is null then 'none' else 'not' end
$$;

-- Finds the claims of lines that do not name one, by the profile's other keys, one to one. Parameters: i_statement. Result: none. Locks: the lines. Errors: none.
create or replace function largesse.statement_resolve(i_statement largesse.statement) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_key text;
begin
  if not exists (select from largesse.statement_line l where l.statement_id = i_statement.id and l.claim_id is null and l.outcome <> 'ignored') then return; end if;
  for v_key in select k.key from jsonb_array_elements_text(i_statement.terms -> 'fallback') with ordinality as k(key, n) order by k.n loop
    with lines as materialized (
      select l.line, l.kind, l.amount, l.currency, l.user_id, l.ref, l.at, (l.at at time zone i_statement.time_zone)::date as day,
             row_number() over (partition by l.kind, l.ref order by l.at, l.line) as nth_of_ref,
             row_number() over (partition by l.kind, l.user_id, l.amount, l.currency, (l.at at time zone i_statement.time_zone)::date order by l.at, l.line) as nth_of_day
        from largesse.statement_line l where l.statement_id = i_statement.id and l.claim_id is null and l.outcome <> 'ignored' and l.status = 'done'
         -- A line that is there twice is one of them.
         and (l.ref = '' or not exists (select from largesse.statement_line o where o.statement_id = l.statement_id and o.kind = l.kind and o.ref = l.ref and o.line < l.line))
    ), ours as materialized (
      select m.*, row_number() over (partition by m.kind, m.ref order by m.at, m.claim_id) as nth_of_ref,
             row_number() over (partition by m.kind, m.user_id, m.amount, m.currency, (m.at at time zone i_statement.time_zone)::date order by m.at, m.claim_id) as nth_of_day
        from largesse.statement_movements(i_statement.provider, i_statement.from_at - i_statement.grace) m
       where m.at < i_statement.until_at + i_statement.grace
         and not exists (select from largesse.statement_line o join largesse.statement s on s.id = o.statement_id and s.state = 'active'
                          where o.activity_id = m.activity_id and o.claim_id = m.claim_id and o.kind = m.kind and o.provider = i_statement.provider)
    ), pairs as (
      select l.line, o.activity_id, o.claim_id from lines l join ours o on o.kind = l.kind and o.ref = l.ref and o.nth_of_ref = l.nth_of_ref
       where v_key = 'reference' and l.ref <> ''
      union all
      select l.line, o.activity_id, o.claim_id
        from lines l join ours o on o.kind = l.kind and o.user_id::text = l.user_id and o.amount = l.amount and o.currency = l.currency
                                and (o.at at time zone i_statement.time_zone)::date = l.day and o.nth_of_day = l.nth_of_day
       where v_key = 'user_amount_date'
    )
    update largesse.statement_line l set activity_id = p.activity_id, claim_id = p.claim_id, found_by = v_key
      from pairs p where l.statement_id = i_statement.id and l.line = p.line;
  end loop;
  -- The repeated ones are about what the first is about.
  update largesse.statement_line l set activity_id = o.activity_id, claim_id = o.claim_id, found_by = o.found_by
    from largesse.statement_line o
   where l.statement_id = i_statement.id and l.claim_id is null and l.ref <> '' and o.statement_id = i_statement.id and o.found_by is not null
     and o.kind = l.kind and o.ref = l.ref;
end $$;

-- Marks lines that say once more what another one says. The first counts. The same reference of the provider, or none: the line is there twice; another one: it moved twice under one
-- request id. Without a reference equal payments are no duplicates unless they name the same claim. Parameters: i_statement. Result: none. Locks: the lines. Errors: none.
create or replace function largesse.statement_mark_duplicates(i_statement largesse.statement) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set work_mem = '128MB' set plan_cache_mode = force_custom_plan
as $$
begin
  -- Candidates by what is cheap to compare, and few as the planner sees it: the windows below look closely.
  with by_claim as materialized (
    select l.activity_id, l.claim_id from largesse.statement_line l
     where l.statement_id = i_statement.id and l.claim_id is not null and l.status = 'done' and l.kind <> 'ignored' group by 1, 2 having case when count(*) > 1 then 1 else 0 end = 1
  ), by_ref as materialized (
    select hashtextextended(l.ref, 0) as hash from largesse.statement_line l
     where l.statement_id = i_statement.id and l.ref <> '' and l.status = 'done' and l.kind <> 'ignored' group by 1 having case when count(*) > 1 then 1 else 0 end = 1
  ), repeated as (
    select l.line, l.ref, first_value(l.line) over w as first_line, first_value(l.ref) over w as first_ref
      from by_claim g join largesse.statement_line l on l.statement_id = i_statement.id and l.activity_id = g.activity_id and l.claim_id = g.claim_id
                                                        and l.kind <> 'ignored' and l.status = 'done'
    window w as (partition by l.activity_id, l.claim_id, l.kind order by l.line)
    union all
    select l.line, l.ref, first_value(l.line) over w, l.ref
      from by_ref g join largesse.statement_line l on l.statement_id = i_statement.id and hashtextextended(l.ref, 0) = g.hash and l.ref <> ''
                                                      and l.kind <> 'ignored' and l.status = 'done'
    window w as (partition by l.kind, l.ref order by l.line)
  ), verdict as (
    select distinct on (r.line) r.line, r.first_line, r.first_ref,
           case when r.ref = '' or r.first_ref = '' or r.ref = r.first_ref then 'duplicate_line' else 'duplicate_effect' end as outcome
      from repeated r where r.line > r.first_line order by r.line, r.ref = r.first_ref desc
  )
  update largesse.statement_line l
     set outcome = v.outcome, expected = 'one line about it, and one movement',
         actual = case v.outcome when 'duplicate_line' then format('line %s says again what line %s says%s', l.line, v.first_line, coalesce(', reference ' || nullif(l.ref, ''), ''))
                                 else format('lines %s and %s: moved twice, under references %s and %s', v.first_line, l.line, v.first_ref, l.ref) end
    from verdict v where l.statement_id = i_statement.id and l.line = v.line;
  -- It may stand in another statement: that of the next day, or of a day long after.
  with theirs as (
    select distinct on (l.line) l.line, o.line as other_line, o.ref, o.business_date
      from largesse.statement_line l
      join (select o.*, s.business_date from largesse.statement_line o join largesse.statement s on s.id = o.statement_id and s.state = 'active' where o.statement_id < i_statement.id
            union all  -- so that the index leads past the line in hand
            select o.*, s.business_date from largesse.statement_line o join largesse.statement s on s.id = o.statement_id and s.state = 'active' where o.statement_id > i_statement.id) o
        on o.activity_id = l.activity_id and o.claim_id = l.claim_id and o.kind = l.kind and o.provider = l.provider and o.status = 'done'
           and o.outcome not in ('duplicate_line', 'duplicate_effect')
     where l.statement_id = i_statement.id and l.claim_id is not null and l.status = 'done' and l.outcome = 'matched'
     order by l.line, o.statement_id, o.line
  )
  update largesse.statement_line l
     set outcome = case when l.ref = '' or o.ref = '' or l.ref = o.ref then 'duplicate_line' else 'duplicate_effect' end,
         expected = 'one line about it, and one movement',
         actual = format('line %s; also line %s of the statement of %s%s', l.line, o.other_line, o.business_date, coalesce(', reference ' || nullif(o.ref, ''), ''))
    from theirs o
   where l.statement_id = i_statement.id and l.line = o.line;
end $$;

-- Lines of other statements that said once more what a file said for which a corrected one has come: they are looked at again, before those of the corrected one.
-- Parameters: i_statement: the corrected one. Result: the statements that have such lines. Locks: the lines. Errors: none.
create or replace function largesse.statement_free_duplicates(i_statement largesse.statement) returns bigint[]
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_freed bigint[];
  v_s     largesse.statement;
begin
  with freed as (
    update largesse.statement_line l set outcome = 'matched', expected = null, actual = null
      from largesse.statement s
     where s.id = l.statement_id and s.state = 'active' and l.provider = i_statement.provider and l.statement_id <> i_statement.id
       and l.outcome in ('duplicate_line', 'duplicate_effect')
       and exists (select from largesse.statement_line o join largesse.statement old on old.id = o.statement_id and old.superseded_by = i_statement.id
                    where o.activity_id = l.activity_id and o.claim_id = l.claim_id and o.kind = l.kind and o.provider = l.provider)
    returning l.statement_id
  )
  select coalesce(array_agg(distinct f.statement_id), '{}') into v_freed from freed f;
  for v_s in select * from largesse.statement s where s.id = any (v_freed) order by s.id loop
    perform largesse.statement_mark_duplicates(v_s);
    perform largesse.statement_judge(v_s.provider, v_s.id);
  end loop;
  return v_freed;
end $$;

-- Judges lines by what we hold. Parameters: i_provider, i_statement_id: all its lines that are no duplicates; null: those of the provider's statements that are open,
-- but for i_except (null: none), which has just been judged.
-- Result: the statements of which a line changed. Locks: the lines. Errors: none.
create or replace function largesse.statement_judge(i_provider text, i_statement_id bigint, i_except bigint default null) returns bigint[]
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set work_mem = '128MB'
as $$
declare
  v_now     timestamptz := largesse.clock_now();
  v_which   text := case when i_statement_id is not null then format('and l.statement_id = %s', i_statement_id)
                         else 'and l.outcome not in (''matched'', ''ignored'') and not largesse.statement_is_unrelated(s)' || case when i_except is not null then format(' and l.statement_id <> %s', i_except) else '' end end;
  v_judge   text;
  v_changed bigint[];
  v_away    bigint[];
begin
  v_judge := $q$
  with judged as materialized (
    -- Only what changes or is a finding is kept: of a good file next to nothing, and so it is planned.
    select j.* from (
      select l.ctid as place, l.statement_id, l.line, l.outcome as before,
             case when l.status = 'pending' then case when not j.is_overdue then 'not_yet_due' when h.state = 'done' and not j.is_told then 'status_differs' else 'ignored' end
                  when l.status = 'failed' then case when h.state = 'done' and not j.is_told then 'status_differs' else 'ignored' end
                  when h.state = 'none' then case when s.terms -> 'sharedWith' ? w.provider then 'ignored' else 'missing_here' end
                  when h.state = 'done' and (l.amount <> w.amount * c.quantity or l.currency <> w.currency) then 'amount_differs'
                  when h.state = 'done' then 'matched'
                  when h.state = 'open' and not j.is_overdue then 'not_yet_due'
                  when h.state = 'kept' then 'reversed'
                  else 'status_differs' end as outcome,
             h.state, c.status as claim_status, c.review_since is not null as is_in_review, w.amount * c.quantity as own_amount, w.currency as own_currency
        from largesse.statement_line l
        join largesse.statement s on s.id = l.statement_id and s.state = 'active'
        left join %1$s
        left join largesse.reward w on w.id = case when l.kind in ('credit', 'reverse') then c.reward_id else c.payment_id end
        cross join lateral (select case when c.id is null or w.provider is distinct from l.provider then 'none'
                                        else case l.kind when 'credit' then largesse.claim_credit_state(c) when 'reverse' then largesse.claim_reverse_state(c)
                                                         when 'payment' then largesse.claim_payment_state(c) else largesse.claim_refund_state(c) end end as state) h
        cross join lateral (select $1 >= greatest(least(l.at, s.until_at), s.imported_at) + s.grace as is_overdue,  -- whatever instant a line names
                                   case when l.status = 'done' then false
                                        else exists (select from largesse.statement_line o join largesse.statement os on os.id = o.statement_id and os.state = 'active'
                                                      where o.activity_id = l.activity_id and o.claim_id = l.claim_id and o.kind = l.kind and o.provider = l.provider
                                                        and o.status = 'done') end as is_told) j
       where l.provider = $2 and l.kind <> 'ignored' and l.status <> 'ignored' and l.outcome not in ('duplicate_line', 'duplicate_effect') %2$s
      offset 0) j
     where case when j.outcome <> j.before or j.outcome not in ('matched', 'ignored', 'not_yet_due') then 1 else 0 end = 1
  ), told as materialized (
    select j.place, j.statement_id, j.line, j.outcome,
           case j.outcome when 'missing_here' then 'something of ours that it is about'
                          when 'amount_differs' then coalesce(largesse.money_text(j.own_amount, j.own_currency), 'no amount')
                          when 'reversed' then case l.kind when 'refund' then 'paid, and not given back' else 'delivered, and not taken back' end
                          when 'status_differs' then case when j.state = 'done' then 'done' else coalesce(j.claim_status, '') || case when j.is_in_review then ', under review' else '' end end
           end as expected,
           case j.outcome when 'missing_here' then largesse.statement_line_text(l)
                          when 'amount_differs' then coalesce(largesse.money_text(l.amount, l.currency), 'no amount') || ' in line ' || l.line
                          when 'reversed' then largesse.statement_line_text(l)
                          when 'status_differs' then l.status || ': ' || largesse.statement_line_text(l) end as actual
      from judged j join largesse.statement_line l on l.ctid = j.place and l.statement_id = j.statement_id and l.line = j.line
  ), changed as (
    update largesse.statement_line l set outcome = t.outcome, expected = t.expected, actual = t.actual
      from told t
     where l.ctid = t.place and l.statement_id = t.statement_id and l.line = t.line and (l.outcome, l.expected, l.actual) is distinct from (t.outcome, t.expected, t.actual)
    returning l.statement_id
  )
  select array_agg(distinct statement_id) from changed
  $q$;
  execute format(v_judge, 'largesse.claim c on c.activity_id = l.activity_id and c.id = l.claim_id'
                          || case when i_statement_id is not null then (select format(' and c.activity_id between %s and %s', coalesce(min(l.activity_id), 0), coalesce(max(l.activity_id), 0))
                                                                          from largesse.statement_line l where l.statement_id = i_statement_id) else '' end, v_which)
    into v_changed using v_now, i_provider;
  if exists (select from largesse.archive_month) then  -- claims of months that are away lie elsewhere
    execute format(v_judge, 'lateral (select a.* from largesse.archive_claim(l.activity_id, l.claim_id, null) a where a.id is not null) c on true',
                   v_which || ' and l.outcome = ''missing_here'' and l.claim_id is not null and largesse.archive_is_away(l.activity_id)') into v_away using v_now, i_provider;
  end if;
  return coalesce(v_changed, '{}') || coalesce(v_away, '{}');
end $$;

-- A line in words. Parameters: i_line. Result: text. Locks, errors: none.
create or replace function largesse.statement_line_text(i_line largesse.statement_line) returns text
language sql stable
as $$
  select concat_ws(', ', concat_ws(' of ', i_line.kind, largesse.money_text(i_line.amount, i_line.currency)) || coalesce(' on ' || largesse.time_text(i_line.at), ''),
                   'line ' || i_line.line, 'request ' || nullif(i_line.request_id, ''), 'reference ' || nullif(i_line.ref, ''), 'user ' || nullif(i_line.user_id, ''))
$$;

-- Writes down which movements of ours a statement lacks: done in its time, or begun in it and done after it. Parameters: i_statement. Result: none. Locks: the items. Errors: none.
create or replace function largesse.statement_find_missing(i_statement largesse.statement) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set work_mem = '128MB' set plan_cache_mode = force_custom_plan
as $$
declare
  v_covers text[] := array(select jsonb_array_elements_text(i_statement.terms -> 'covers'));
begin
  with lacking as materialized (
    select m.* from largesse.statement_movements(i_statement.provider, i_statement.from_at) m
     where (m.at < i_statement.until_at or m.began_at < i_statement.until_at)
       and m.kind = any (v_covers)
       and not exists (select from largesse.statement_line l
                        where l.statement_id = i_statement.id and l.activity_id = m.activity_id and l.claim_id = m.claim_id and l.kind = m.kind and l.outcome <> 'ignored')
  )
  insert into largesse.statement_item as i (provider, activity_id, claim_id, kind, statement_id, at, amount, currency, seen_at, due_at)
    select i_statement.provider, m.activity_id, m.claim_id, m.kind, i_statement.id, m.at, m.amount, m.currency, largesse.clock_now(), m.at + i_statement.grace
      from lacking m
     where not exists (select from largesse.statement_line l join largesse.statement s on s.id = l.statement_id and s.state = 'active'
                        where l.activity_id = m.activity_id and l.claim_id = m.claim_id and l.kind = m.kind and l.provider = i_statement.provider and l.outcome <> 'ignored')
     order by m.activity_id, m.claim_id, m.kind
  -- Where the file that lacked it was corrected and lacks it still, it is the corrected one that does.
  on conflict on constraint statement_item_pkey do update set statement_id = excluded.statement_id
    where not exists (select from largesse.statement s where s.id = i.statement_id and s.state = 'active');
end $$;

-- What was lacking and has a line now, or is not held to have moved any more, is lacking no longer; what is past its grace is missing: a statement that covers that instant
-- does not have it, or so much time has gone since it was first looked for. Where statements are fetched, their own delay is no fault of the movement.
-- Parameters: i_provider. Result: the statements of which an item changed. Locks: the items. Errors: none.
create or replace function largesse.statement_settle_items(i_provider text) returns bigint[]
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now  timestamptz := largesse.clock_now();
  v_gone bigint[];
  v_due  bigint[];
begin
  with ended as (
    delete from largesse.statement_item i
     where i.provider = i_provider
       and (exists (select from largesse.statement_line l join largesse.statement s on s.id = l.statement_id and s.state = 'active'
                     where l.activity_id = i.activity_id and l.claim_id = i.claim_id and l.kind = i.kind and l.provider = i.provider and l.outcome <> 'ignored')
            or not exists (select from largesse.claim c
                            where c.activity_id = i.activity_id and c.id = i.claim_id
                              and case i.kind when 'credit' then largesse.claim_credit_state(c) when 'reverse' then largesse.claim_reverse_state(c)
                                              when 'payment' then largesse.claim_payment_state(c) else largesse.claim_refund_state(c) end = 'done'
                              and not (i.kind = 'credit' and coalesce(c.outcome, '') <> 'done'
                                       and exists (select from largesse.dead_letter d where d.activity_id = c.activity_id and d.claim_id = c.id and d.resolution = 'resolved'))))
    returning i.statement_id
  )
  select array_agg(distinct statement_id) into v_gone from ended;
  with missed as (
    update largesse.statement_item i set state = 'missing'
      from largesse.statement s
     where i.provider = i_provider and i.state = 'in_flight' and s.id = i.statement_id
       and (exists (select from largesse.statement o where o.provider = i_provider and o.state = 'active' and o.from_at <= i.due_at and o.until_at >= i.due_at
                                                              and not largesse.statement_is_unrelated(o))
            or v_now >= greatest(i.due_at, i.seen_at + s.grace) + case when (s.terms ->> 'fetched')::boolean then interval '3 days' else interval '0' end)
    returning i.statement_id
  )
  select array_agg(distinct statement_id) into v_due from missed;
  return coalesce(v_gone, '{}') || coalesce(v_due, '{}');
end $$;

-- Whether a statement was found to be about nothing of ours. Parameters: i_statement. Result: true or false. Locks, errors: none.
create or replace function largesse.statement_is_unrelated(i_statement largesse.statement) returns boolean
language sql immutable
as $$ select coalesce((i_statement.terms ->> 'unrelated')::boolean, false) $$;

-- Whether a file is not one of this provider and system at all: it has a hundred lines or more, and we hold nothing that any of them is about. With fewer lines each may well be a
-- finding of its own. The first line that is known ends the search. Parameters: i_statement. Result: true or false. Locks, errors: none.
create or replace function largesse.statement_knows_nothing(i_statement largesse.statement) returns boolean
language sql stable
set search_path = largesse, pg_temp set jit = off set enable_hashjoin = off set enable_mergejoin = off set max_parallel_workers_per_gather = 0
as $$
  select (select count(*) from (select from largesse.statement_line l where l.statement_id = i_statement.id and l.outcome <> 'ignored' limit 100) o) = 100
         and not exists (select from largesse.statement_line l
                           cross join lateral (select c.reward_id, c.payment_id from largesse.claim c where c.activity_id = l.activity_id and c.id = l.claim_id offset 0) c
                           join largesse.reward w on w.id in (c.reward_id, c.payment_id) and (w.provider = i_statement.provider or i_statement.terms -> 'sharedWith' ? w.provider)
                          where l.statement_id = i_statement.id and l.outcome <> 'ignored' and l.claim_id is not null)
         -- Claims of months that are away lie elsewhere.
         and not exists (select from (select l.activity_id from largesse.statement_line l
                                       where l.statement_id = i_statement.id and l.claim_id is not null and exists (select from largesse.archive_month) group by 1) a
                          where largesse.archive_is_away(a.activity_id))
$$;

-- Says of a statement that it is about nothing of ours: that is one finding, about the file, and its lines are counted only. It is no proof that anything else is lacking.
-- Parameters: i_statement. Result: none. Locks: the lines, the statement. Errors: none.
create or replace function largesse.statement_leave(i_statement largesse.statement) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
begin
  update largesse.statement_line l set outcome = 'missing_here', expected = null, actual = null
   where l.statement_id = i_statement.id and l.outcome not in ('ignored', 'missing_here');
  update largesse.statement s set terms = s.terms || '{"unrelated": true}' where s.id = i_statement.id;
end $$;

-- Matches a statement and what is open of its provider. Parameters: i_statement_id, i_is_new: its lines were just written, i_findings_max: how many findings are written down.
-- Result: none. Locks: statements of the provider, then the lines, the items, the findings. Errors: none.
create or replace function largesse.statement_match(i_statement_id bigint, i_is_new boolean, i_findings_max int) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_s       largesse.statement;
  v_freed   bigint[] := '{}';
  v_touched bigint[];
begin
  perform largesse.statement_lock((select s.provider from largesse.statement s where s.id = i_statement_id));
  select s.* into strict v_s from largesse.statement s where s.id = i_statement_id;  -- as it is when nobody else imports
  if v_s.state = 'active' then
    if i_is_new and v_s.lines > 1000 then analyze largesse.statement_line; end if;
    if not i_is_new then
      update largesse.statement_line l set outcome = 'matched', expected = null, actual = null, finding_key = null
       where l.statement_id = i_statement_id and l.outcome in ('duplicate_line', 'duplicate_effect');
    end if;
    update largesse.statement s set terms = s.terms - 'unrelated' where s.id = i_statement_id and largesse.statement_is_unrelated(s);
    perform largesse.statement_resolve(v_s);
    v_freed := largesse.statement_free_duplicates(v_s);
    if largesse.statement_knows_nothing(v_s) then
      perform largesse.statement_leave(v_s);
    else
      perform largesse.statement_mark_duplicates(v_s);
      perform largesse.statement_judge(v_s.provider, i_statement_id);
      perform largesse.statement_find_missing(v_s);
    end if;
  end if;
  v_touched := v_freed || largesse.statement_judge(v_s.provider, null, case v_s.state when 'active' then i_statement_id end) || largesse.statement_settle_items(v_s.provider) || i_statement_id
               || array(select s.id from largesse.statement s where s.superseded_by = i_statement_id);
  perform largesse.statement_tell(v_s.provider, v_touched, i_findings_max);
end $$;

-- What is open of a provider, as each night does. Parameters: i_provider, i_findings_max. Result: how many findings of it are not gone. Locks: as statement_match. Errors: none.
create or replace function largesse.statement_match_open(i_provider text, i_findings_max int) returns bigint
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  perform largesse.statement_lock(i_provider);
  perform largesse.statement_tell(i_provider, largesse.statement_judge(i_provider, null) || largesse.statement_settle_items(i_provider), i_findings_max);
  delete from largesse.statement_fault f where f.provider = i_provider;
  return (select count(*) from largesse.finding f where f.provider = i_provider and f.state <> 'gone' and f.kind like 'statement\_%');
end $$;

-- What is open of a provider could not be matched: that is so until it is, or for a day. Parameters: i_provider, i_fault. Result: none. Locks: the provider's row. Errors: none.
create or replace function largesse.statement_match_failed(i_provider text, i_fault text) returns void
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  insert into largesse.statement_fault (provider, at, fault) values (i_provider, largesse.clock_now(), left(i_fault, 600))
  on conflict on constraint statement_fault_pkey do update set at = excluded.at, fault = excluded.fault
$$;

-- Whose statements could not be matched: nights and the reconcilers look at least once a day, so what is older is of a provider that has no profile any more.
-- Parameters: none. Result: rows of statement_fault. Locks, errors: none.
create or replace function largesse.statements_unmatched() returns setof largesse.statement_fault
language sql stable
set search_path = largesse, pg_temp
as $$ select f.* from largesse.statement_fault f where f.at > largesse.clock_now() - interval '26 hours' $$;

-- A statement is matched once more, all of it. Parameters: i_statement_id, i_findings_max. Result: whether there is such a statement. Locks: as statement_match. Errors: none.
create or replace function largesse.statement_rematch(i_statement_id bigint, i_findings_max int) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  perform from largesse.statement s where s.id = i_statement_id and s.business_date is not null;
  if not found then return false; end if;
  perform largesse.statement_match(i_statement_id, false, i_findings_max);
  return true;
end $$;
