-- SPDX-License-Identifier: Apache-2.0
-- Protection of providers as fulfillers see and change it. What people change is in provider_change.sql.

-- Whether claims of a provider are to be left in their queue for now, so that nobody publishes them a second time: it is paused or was resumed a moment
-- ago, its breaker waits or closed a moment ago. A breaker whose time for a probe passed without one lacks a claim to try: then it is not held.
-- Parameters: i_state, i_now. Result: as told. Locks, errors: none.
create or replace function largesse.provider_is_held(i_state largesse.provider_state, i_now timestamptz) returns boolean
language sql immutable parallel safe
as $$
  select coalesce(i_state.paused_until > i_now - interval '5 seconds', false)
      or coalesce(case i_state.breaker when 'half_open' then i_state.probe_until else i_state.breaker_until end > i_now - interval '5 seconds', false)
$$;

-- The providers that are held. Parameters: none. Result: their names, never null. Locks, errors: none.
create or replace function largesse.provider_held() returns text[]
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select coalesce(array_agg(s.provider), '{}') from largesse.provider_state s where largesse.provider_is_held(s, largesse.clock_now())
$$;

-- What an instance may do now at each provider.
-- Parameters: i_instance, i_providers. Result: a row per provider that is known: is_paused, breaker, breaker_left_ms (open: until a probe may go out; null: never by
-- itself), is_forced, is_probe_mine, the overrides (null: as configured; the rate in millionths per second), how many live instances serve it and which of them (from 0) this one is.
-- An instance counts as live for five seconds after it was last seen. Locks, errors: none.
create or replace function largesse.provider_view(i_instance text, i_providers text[])
returns table (version bigint, provider text, is_paused boolean, breaker text, breaker_left_ms bigint, is_forced boolean, is_probe_mine boolean, concurrency int, rate_micro bigint,
               live int, place int)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  with n as materialized (select largesse.clock_now() as at)
  select s.version, s.provider, coalesce(s.paused_until > n.at, false), s.breaker,
         case when s.breaker = 'open' and isfinite(s.breaker_until)
              then greatest(0, ceil(extract(epoch from s.breaker_until - n.at) * 1000))::bigint
              when s.breaker = 'half_open' then greatest(0, ceil(extract(epoch from s.probe_until - n.at) * 1000))::bigint end,
         s.breaker_forced, coalesce(s.probe_by = i_instance and s.probe_until > n.at, false), s.concurrency, (s.rate * 1000000)::bigint, l.live, l.place
    from n
    join largesse.provider_state s on s.provider = any (i_providers)
   cross join lateral (
     select 1 + count(*) filter (where i.instance <> i_instance) as live, count(*) filter (where i.instance < i_instance) as place
       from largesse.fulfiller_instance i
      where s.provider = any (i.providers) and i.seen_at > n.at - interval '5 seconds') as l(live, place)
$$;

-- Says that an instance lives and what it may do: provider_view after a heartbeat. The heartbeat is written once a second at most.
-- Parameters, result: as provider_view. Locks: the instance's row. Errors: none.
create or replace function largesse.provider_poll(i_instance text, i_providers text[])
returns table (version bigint, provider text, is_paused boolean, breaker text, breaker_left_ms bigint, is_forced boolean, is_probe_mine boolean, concurrency int, rate_micro bigint,
               live int, place int)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  insert into largesse.fulfiller_instance as i (instance, providers, started_at, seen_at) values (i_instance, i_providers, v_now, v_now)
    on conflict (instance) do update set providers = excluded.providers, seen_at = excluded.seen_at
      where i.seen_at < v_now - interval '900 milliseconds' or i.seen_at > v_now or i.providers <> excluded.providers;
  return query select * from largesse.provider_view(i_instance, i_providers);
end $$;

-- An instance ends: the others have its share at once. Parameters: i_instance. Result: whether it was there. Locks: its row. Errors: none.
create or replace function largesse.provider_leave(i_instance text) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  delete from largesse.fulfiller_instance i where i.instance = i_instance;
  return found;
end $$;

-- A fulfiller starts: its providers have rows with the abilities of their profiles from now on, and it counts as live. Instances not seen for a day are forgotten.
-- Parameters: i_instance (null: nobody starts, only missing rows are made; for commands), then parallel arrays with a row per provider.
-- Result: as provider_poll; nothing for null. Locks: the rows of the providers, ascending; the instance's. Errors: 40P01 (repeat).
create or replace function largesse.provider_register(
  i_instance text, i_providers text[], i_concurrency int[], i_rate numeric[], i_can_reverse boolean[], i_can_inquire boolean[], i_repeat_is_safe boolean[])
returns table (version bigint, provider text, is_paused boolean, breaker text, breaker_left_ms bigint, is_forced boolean, is_probe_mine boolean, concurrency int, rate_micro bigint,
               live int, place int)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := largesse.clock_now();
begin
  insert into largesse.provider_state as s (provider, configured_concurrency, configured_rate, can_reverse, can_inquire, repeat_is_safe, changed_at)
    select r.provider, r.concurrency, r.rate, r.can_reverse, r.can_inquire, r.repeat_is_safe, v_now
      from unnest(i_providers, i_concurrency, i_rate, i_can_reverse, i_can_inquire, i_repeat_is_safe)
             as r(provider, concurrency, rate, can_reverse, can_inquire, repeat_is_safe)
     order by r.provider
    on conflict (provider) do update
      set configured_concurrency = excluded.configured_concurrency, configured_rate = excluded.configured_rate, can_reverse = excluded.can_reverse,
          can_inquire = excluded.can_inquire, repeat_is_safe = excluded.repeat_is_safe
      where i_instance is not null;
  if i_instance is null then return; end if;
  delete from largesse.fulfiller_instance i where i.seen_at < v_now - interval '1 day';
  return query select * from largesse.provider_poll(i_instance, i_providers);
end $$;

-- Moves a breaker by one guarded statement: of many who try the same, one does it. Recorded as a change.
-- Parameters: i_provider, i_instance, i_to: 'open' (from closed; or from half_open by the instance that probes, with the time doubled), 'half_open' (from open when
-- its time is up, or from half_open when the instance that probed let its time pass: makes i_instance the one that probes, for i_span), 'closed' (from half_open by
-- the instance that probes), 'release' (the instance that probes found nothing to probe with: the next one may); i_span: open_for, or the time for the probe;
-- i_max: the longest time that doubling leads to; i_reason. A breaker that an operator holds does not move.
-- Result: moved, then as provider_view for this provider. Locks: the provider's row. Errors: none.
create or replace function largesse.provider_breaker(i_provider text, i_instance text, i_to text, i_span interval, i_max interval, i_reason text)
returns table (moved boolean, version bigint, provider text, is_paused boolean, breaker text, breaker_left_ms bigint, is_forced boolean, is_probe_mine boolean, concurrency int,
               rate_micro bigint, live int, place int)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now   timestamptz := largesse.clock_now();
  v_from  text;
  v_moved boolean;
begin
  select s.breaker into v_from from largesse.provider_state s where s.provider = i_provider for no key update;
  update largesse.provider_state s
     set breaker = case i_to when 'release' then 'half_open' else i_to end,
         breaker_opens = case i_to when 'open' then least(s.breaker_opens + 1, 30) when 'closed' then 0 else s.breaker_opens end,
         breaker_until = case i_to when 'open' then v_now + least(i_span * power(2, s.breaker_opens), greatest(i_span, i_max))
                                   when 'closed' then v_now else s.breaker_until end,
         probe_by = case when i_to in ('half_open', 'release') then i_instance end,
         probe_until = case i_to when 'half_open' then v_now + i_span when 'release' then v_now end,
         version = s.version + 1, changed_at = v_now
   where s.provider = i_provider and not s.breaker_forced
     and case i_to
           when 'open' then s.breaker = 'closed' or s.breaker = 'half_open' and s.probe_by = i_instance
           when 'half_open' then s.breaker = 'open' and s.breaker_until <= v_now or s.breaker = 'half_open' and s.probe_until <= v_now
           else s.breaker = 'half_open' and s.probe_by = i_instance
         end;
  v_moved := found;
  if v_moved and v_from <> i_to and i_to <> 'release' then
    insert into largesse.provider_change (provider, at, actor, what, from_value, to_value, reason)
      values (i_provider, v_now, 'fulfiller ' || i_instance, 'breaker', v_from, i_to, i_reason);
  end if;
  return query select v_moved, v.* from largesse.provider_view(i_instance, array[i_provider]) v;
end $$;
