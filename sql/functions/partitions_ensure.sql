-- SPDX-License-Identifier: Apache-2.0
-- Creates the partitions of claims and usage for the activities that end in one month. Ids of month m (since 1970-01) are
-- m * 1,000,000 up to the next month's; there is no default partition, so a forgotten month fails loudly.
-- Parameters: i_month. Result: none. Locks: an advisory lock, then SHARE UPDATE EXCLUSIVE on the parents (claims go on). Errors: 55000 for a month that is archived.
create or replace function largesse.partitions_ensure(i_month int) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_parent text;
  v_child  text;
  v_from   bigint := i_month * 1000000::bigint;
begin
  foreach v_parent in array array['usage', 'claim'] loop
    v_child := v_parent || '_' || to_char(date '1970-01-01' + make_interval(months => i_month), 'YYYYMM');
    continue when to_regclass('largesse.' || v_child) is not null;
    if exists (select from largesse.archive_month m where m.month = i_month) then
      raise exception 'the month of % is archived', v_child using errcode = 'object_not_in_prerequisite_state';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('largesse.partitions', 0));
    continue when to_regclass('largesse.' || v_child) is not null;
    -- Built aside and then attached: creating it in place would lock out every claim.
    execute format('create table largesse.%I (like largesse.%I including all)', v_child, v_parent);
    execute format('alter table largesse.%I set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)', v_child);
    -- A claim's first update, the take, changes nothing that is indexed: with room on its page it costs no index anything.
    if v_parent = 'claim' then execute format('alter table largesse.%I set (fillfactor = 50)', v_child); end if;
    execute format('alter table largesse.%I add constraint %I check (activity_id >= %s and activity_id < %s)',
                   v_child, v_child || '_ids', v_from, v_from + 1000000);
    execute format('alter table largesse.%I attach partition largesse.%I for values from (%s) to (%s)',
                   v_parent, v_child, v_from, v_from + 1000000);
    execute format('alter table largesse.%I drop constraint %I', v_child, v_child || '_ids');
  end loop;
end $$;

-- The month of an instant, as partitions count it. Parameters: i_at. Result: months since 1970-01 (UTC). Locks, errors: none.
create or replace function largesse.partition_month(i_at timestamptz) returns int
language sql immutable parallel safe
as $$
  select ((extract(year from i_at at time zone 'UTC') - 1970) * 12 + extract(month from i_at at time zone 'UTC') - 1)::int
$$;

-- The partitions in which claims of some activities lie, for statements that name them: planning such a statement over all months costs more than running it, and
-- more with every month. Parameters: i_activity_ids. Result: a row per partition, ascending; months that have none are left out. Locks, errors: none.
create or replace function largesse.claim_partitions(i_activity_ids bigint[]) returns table (partition regclass)
language sql stable
set search_path = largesse, pg_temp
as $$
  select p.partition
    from (select m.month, to_regclass('largesse.claim_' || to_char(date '1970-01-01' + make_interval(months => m.month), 'YYYYMM')) as partition
            from (select distinct (a / 1000000)::int as month from unnest(i_activity_ids) a where a between 0 and 99999999999) m) p
   where p.partition is not null order by p.month
$$;
