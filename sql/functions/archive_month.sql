-- SPDX-License-Identifier: Apache-2.0
-- Months of claims that are taken out of the table and brought back. Taking one out: archive_seal (nobody changes its rows any more), then each partition is detached
-- concurrently by the caller, as statements of their own, then archive_detached. Whatever is interrupted is gone on with by doing it again. Bringing it back is one transaction.

-- The partitions of a month. Parameters: i_month. Result: a row per table that is there, counters first: its parent, its name, and whether it is attached, pending (a
-- detaching that was interrupted), loose, or kept (in largesse_archive). Locks, errors: none.
create or replace function largesse.archive_partitions(i_month int) returns table (parent text, name text, state text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select p.parent, n.nspname || '.' || c.relname,
         case when n.nspname = 'largesse_archive' then 'kept' when i.inhrelid is null then 'loose' when i.inhdetachpending then 'pending' else 'attached' end
    from (values ('usage'), ('claim')) as p(parent)
    join pg_class c on c.relname = p.parent || '_' || replace(largesse.archive_month_name(i_month), '-', '') and c.relkind = 'r'
    join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('largesse', 'largesse_archive')
    left join pg_inherits i on i.inhrelid = c.oid
   order by p.parent = 'claim'
$$;

-- What stands against detaching a month. Parameters: i_month; i_age: how long it must be over. Result: a row per reason: the activity or null, and why.
-- Locks, errors: none.
create or replace function largesse.archive_month_blockers(i_month int, i_age interval) returns table (activity_code text, why text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  with activity as materialized (
    select a.id, a.code, a.status, x.state_hash from largesse.activity a left join largesse.archive x on x.activity_id = a.id
     where a.id >= i_month * 1000000::bigint and a.id < (i_month + 1) * 1000000::bigint
  )
  select null, format('the month has not been over for %s days', ceil(extract(epoch from i_age) / 86400))
   where (date '1970-01-01' + make_interval(months => i_month + 1))::timestamp at time zone 'UTC' + i_age > largesse.clock_now()
  union all
  select null, 'there are no partitions of this month' where not exists (select from largesse.archive_partitions(i_month))
  union all
  select a.code, case when a.status not in ('finished', 'archived') then 'is ' || a.status
                      when a.state_hash is null then 'was not exported'
                      when a.state_hash <> largesse.archive_state(a.id) then 'its rows have changed since the export; export it again'
                      else 'is ' || a.status end
    from activity a where a.status <> 'draft' and (a.status <> 'archived' or a.state_hash is distinct from largesse.archive_state(a.id))  -- a draft has nothing, and is not published any more
  union all
  select a.code, o.n || ' ' || o.what from activity a cross join lateral largesse.archive_open_items(a.id) o
  union all
  -- A coupon must be found when an order brings it.
  select a.code, format('%s coupons of %s may still be used: rule %s', k.n, k.code, k.rules)
    from activity a cross join lateral (
      select w.code, count(*) as n, d.rules
        from (select r.reward_code, string_agg(r.id, ', ' order by r.id) as rules from largesse.discount_rule r
               where r.replaced_at is null and r.reward_code is not null and (r.end_at is null or r.end_at > largesse.clock_now()) group by 1) d
        join largesse.reward w on w.code = d.reward_code and w.purpose = 'delivery'
        join largesse.archive_claims(a.id) c on c.reward_id = w.id and c.status = 'succeeded'
       where c.quantity > (select count(*) from largesse.coupon_use u where u.activity_id = a.id and u.claim_id = c.id and u.released_at is null)
       group by w.code, d.rules) k
$$;

-- The activities of a month, and where their exports lie. Parameters: i_month. Result: a row per activity. Locks, errors: none.
create or replace function largesse.archive_month_files(i_month int) returns table (activity_code text, path text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select a.code, x.path from largesse.activity a join largesse.archive x on x.activity_id = a.id
   where a.id >= i_month * 1000000::bigint and a.id < (i_month + 1) * 1000000::bigint order by a.id
$$;

-- The state of a month. Parameters: i_month. Result: attached, sealed or detached. Locks, errors: none.
create or replace function largesse.archive_month_state(i_month int) returns text
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$ select coalesce((select m.state from largesse.archive_month m where m.month = i_month), 'attached') $$;

-- The months that are away. Parameters: none. Result: their names, separated by commas; null: none. Locks, errors: none.
create or replace function largesse.archive_months_away() returns text
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$ select string_agg(largesse.archive_month_name(m.month), ', ' order by m.month) from largesse.archive_month m $$;

-- Refuses what would change a row of a month that is sealed or detached.
create or replace function largesse.archive_is_sealed() returns trigger
language plpgsql
as $$
begin
  raise exception 'the rows of % are archived', tg_table_name
    using errcode = 'object_not_in_prerequisite_state', hint = 'reconciler archive attach brings the month back';
end $$;

-- Seals a month: from here on nobody changes its claims and counters, and nobody audits it. Sealed again it stays as it is. Parameters: i_month, i_age, i_actor, i_reason.
-- Result: one row: outcome ('sealed', 'detached': it is already, 'blocked'), detail: the first reason.
-- Locks: an advisory one; the partitions (SHARE ROW EXCLUSIVE: whoever changes their rows). Errors: 55P03: somebody changes rows for longer than 3 s.
create or replace function largesse.archive_seal(i_month int, i_age interval, i_actor text, i_reason text)
returns table (outcome text, detail text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set lock_timeout = '3s' set jit = off
as $$
declare
  v_part record;
begin
  perform pg_advisory_xact_lock(hashtextextended('largesse.partitions', 0));
  outcome := largesse.archive_month_state(i_month);
  if outcome <> 'attached' then return next; return; end if;
  for v_part in select * from largesse.archive_partitions(i_month) loop
    execute format('create trigger archive_is_sealed before insert or update or delete on %s for each row execute function largesse.archive_is_sealed()', v_part.name);
    execute format('create trigger archive_is_whole before truncate on %s for each statement execute function largesse.archive_is_sealed()', v_part.name);
  end loop;
  -- Whoever was changing rows has ended; this is how they stay.
  select coalesce(b.activity_code || ': ', '') || b.why into detail from largesse.archive_month_blockers(i_month, i_age) b limit 1;
  if found then
    for v_part in select * from largesse.archive_partitions(i_month) loop
      execute format('drop trigger archive_is_sealed on %s', v_part.name);
      execute format('drop trigger archive_is_whole on %s', v_part.name);
    end loop;
    outcome := 'blocked'; return next; return;
  end if;
  insert into largesse.archive_month (month, state, rows, actor, reason, sealed_at)
    select i_month, 'sealed', count(*), i_actor, i_reason, largesse.clock_now()
      from largesse.claim c where c.activity_id >= i_month * 1000000::bigint and c.activity_id < (i_month + 1) * 1000000::bigint;
  insert into largesse.archive_event_usage (event_code, user_id, activity_id, quantity)
    select a.event_code, c.user_id, a.id, sum(c.quantity)
      from largesse.activity a join largesse.activity_limit l on l.activity_id = a.id and l.period = 'event'
      join largesse.claim c on c.activity_id = a.id join largesse.claim_state s on s.status = c.status and s.holds_allowance
     where a.id >= i_month * 1000000::bigint and a.id < (i_month + 1) * 1000000::bigint group by 1, 2, 3;
  outcome := 'sealed';
  return next;
end $$;

-- Ends the detaching of a month: its tables are kept aside. Parameters: i_month, i_actor, i_reason. Result: outcome ('detached', 'attached': a partition still is).
-- Locks: an advisory one; the tables, which nobody uses; the log. Errors: none.
create or replace function largesse.archive_detached(i_month int, i_actor text, i_reason text) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_part record;
begin
  perform pg_advisory_xact_lock(hashtextextended('largesse.partitions', 0));
  if largesse.archive_month_state(i_month) <> 'sealed' then return largesse.archive_month_state(i_month); end if;
  if exists (select from largesse.archive_partitions(i_month) p where p.state in ('attached', 'pending')) then return 'attached'; end if;
  for v_part in select * from largesse.archive_partitions(i_month) p where p.state = 'loose' loop
    execute format('alter table %s set schema largesse_archive', v_part.name);
  end loop;
  update largesse.archive_month m set state = 'detached', detached_at = largesse.clock_now() where m.month = i_month;
  perform largesse.log_append(i_actor, 'partition.detach', largesse.archive_month_name(i_month), i_reason,
                              (select jsonb_build_object('claims', m.rows) from largesse.archive_month m where m.month = i_month));
  return 'detached';
end $$;

-- Gives a table that was detached the columns, with their defaults, and the CHECKs that its parent has got, or lost, meanwhile. Parameters: i_table, i_parent: names.
-- Result: none. Locks: the table. Errors: those of the CHECKs.
create or replace function largesse.archive_conform(i_table text, i_parent text) returns void
language plpgsql volatile
as $$
declare
  v record;
begin
  for v in select p.attname, format_type(p.atttypid, p.atttypmod) as type, pg_get_expr(d.adbin, d.adrelid) as initially, p.attnotnull
             from pg_attribute p left join pg_attrdef d on d.adrelid = p.attrelid and d.adnum = p.attnum
            where p.attrelid = i_parent::regclass and p.attnum > 0 and not p.attisdropped
              and not exists (select from pg_attribute t where t.attrelid = i_table::regclass and t.attname = p.attname and not t.attisdropped) order by p.attnum loop
    execute format('alter table %s add column %I %s%s%s', i_table, v.attname, v.type, ' default ' || v.initially, case when v.attnotnull then ' not null' end);
  end loop;
  for v in select p.attname from pg_attribute p join pg_attribute t on t.attrelid = i_table::regclass and t.attname = p.attname and not t.attisdropped
            where p.attrelid = i_parent::regclass and p.attnum > 0 and p.attnotnull and not t.attnotnull order by p.attnum loop
    execute format('alter table %s alter column %I set not null', i_table, v.attname);
  end loop;
  for v in select t.attname
             from pg_attribute t
            where t.attrelid = i_table::regclass and t.attnum > 0 and not t.attisdropped
              and not exists (select from pg_attribute p where p.attrelid = i_parent::regclass and p.attname = t.attname and not p.attisdropped) loop
    execute format('alter table %s drop column %I', i_table, v.attname);
  end loop;
  for v in select t.conname from pg_constraint t where t.conrelid = i_table::regclass and t.contype = 'c'
              and exists (select from pg_constraint p where p.conrelid = i_parent::regclass and p.contype = 'c' and p.conname = t.conname
                                                        and pg_get_constraintdef(p.oid) <> pg_get_constraintdef(t.oid)) loop
    execute format('alter table %s drop constraint %I', i_table, v.conname);
  end loop;
  for v in select p.conname, pg_get_constraintdef(p.oid) as definition from pg_constraint p where p.conrelid = i_parent::regclass and p.contype = 'c'
              and not exists (select from pg_constraint t where t.conrelid = i_table::regclass and t.contype = 'c' and t.conname = p.conname) loop
    execute format('alter table %s add constraint %I %s', i_table, v.conname, v.definition);
  end loop;
end $$;

-- Brings a month back, or takes its seal off. Parameters: i_month, i_actor, i_reason. Result: outcome ('attached', 'unchanged': it was not away, 'pending': its detaching is to
-- be ended first, 'gone': its tables are no longer kept). Locks: an advisory one; the tables of the month; SHARE UPDATE EXCLUSIVE on the parents (claims go on); the log.
-- Errors: none.
create or replace function largesse.archive_attach(i_month int, i_actor text, i_reason text) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_part  record;
  v_from  bigint := i_month * 1000000::bigint;
  v_extra text;
begin
  perform pg_advisory_xact_lock(hashtextextended('largesse.partitions', 0));
  if largesse.archive_month_state(i_month) = 'attached' then return 'unchanged'; end if;
  if exists (select from largesse.archive_partitions(i_month) p where p.state = 'pending') then return 'pending'; end if;
  if (select count(*) from largesse.archive_partitions(i_month)) <> 2 then return 'gone'; end if;
  for v_part in select * from largesse.archive_partitions(i_month) loop
    execute format('drop trigger if exists archive_is_sealed on %s', v_part.name);
    execute format('drop trigger if exists archive_is_whole on %s', v_part.name);
    continue when v_part.state = 'attached';
    perform largesse.archive_conform(v_part.name, 'largesse.' || v_part.parent);
    if v_part.state = 'kept' then execute format('alter table %s set schema largesse', v_part.name); end if;
    v_part.name := 'largesse.' || split_part(v_part.name, '.', 2);
    execute format('alter table largesse.%I attach partition %s for values from (%s) to (%s)', v_part.parent, v_part.name, v_from, v_from + 1000000);
    for v_extra in select t.conname from pg_constraint t where t.conrelid = v_part.name::regclass and t.contype = 'c' and t.conislocal and t.coninhcount = 0 loop
      execute format('alter table %s drop constraint %I', v_part.name, v_extra);
    end loop;
  end loop;
  delete from largesse.archive_event_usage u where u.activity_id >= v_from and u.activity_id < v_from + 1000000;
  delete from largesse.archive_month m where m.month = i_month;
  perform largesse.log_append(i_actor, 'partition.attach', largesse.archive_month_name(i_month), i_reason);
  return 'attached';
end $$;
