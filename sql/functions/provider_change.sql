-- SPDX-License-Identifier: Apache-2.0
-- Protection of providers as people see and change it. Each change names who made it and why; what changes nothing is not recorded.

-- How an end of a pause is told. Parameters: i_until, i_now. Result: null: not paused. Locks, errors: none.
create or replace function largesse.pause_text(i_until timestamptz, i_now timestamptz) returns text
language sql immutable parallel safe
as $$ select case when i_until > i_now then case when isfinite(i_until) then largesse.time_text(i_until) else 'until resumed' end end $$;

-- A provider as the commands and the HTTP interface show it.
-- Parameters: i_state. Result: JSON: pausedUntil null with paused true means until resumed; limits are over all fulfillers, rate 0 is unlimited.
-- Locks, errors: none.
create or replace function largesse.provider_json(i_state largesse.provider_state) returns jsonb
language sql volatile
set search_path = largesse, pg_temp set jit = off
as $$
  with n as materialized (select largesse.clock_now() as at)
  select jsonb_build_object(
           'name', i_state.provider,
           'state', case when i_state.paused_until > n.at then 'paused' when i_state.breaker = 'closed' then 'serving' else 'breaker_' || i_state.breaker end,
           'paused', coalesce(i_state.paused_until > n.at, false),
           'pausedUntil', case when i_state.paused_until > n.at and isfinite(i_state.paused_until) then largesse.time_text(i_state.paused_until) end,
           'breaker', jsonb_build_object(
             'state', i_state.breaker, 'held', i_state.breaker_forced,
             'until', case when i_state.breaker = 'open' and isfinite(i_state.breaker_until) then largesse.time_text(i_state.breaker_until) end),
           'concurrency', jsonb_build_object('inForce', coalesce(i_state.concurrency, i_state.configured_concurrency),
             'configured', i_state.configured_concurrency, 'override', i_state.concurrency),
           'rate', jsonb_build_object('inForce', coalesce(i_state.rate, i_state.configured_rate), 'configured', i_state.configured_rate, 'override', i_state.rate),
           'canInquire', i_state.can_inquire, 'canReverse', i_state.can_reverse, 'repeatIsSafe', i_state.repeat_is_safe,
           'instances', (select count(*) from largesse.fulfiller_instance i
                          where i_state.provider = any (i.providers) and i.seen_at > n.at - interval '5 seconds'),
           'lastChange', (select jsonb_build_object('at', largesse.time_text(c.at), 'by', c.actor, 'what', c.what, 'from', c.from_value, 'to', c.to_value,
                                                    'reason', c.reason)
                            from largesse.provider_change c where c.provider = i_state.provider order by c.id desc limit 1))
    from n
$$;

-- All providers, by name. Parameters: i_provider: only this one; null: all. Result: a row each: name and JSON. Locks, errors: none.
create or replace function largesse.provider_list(i_provider text)
returns table (provider text, doc text)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select s.provider, largesse.provider_json(s)::text from largesse.provider_state s where i_provider is null or s.provider = i_provider order by s.provider
$$;

-- Changes of a provider, newest first, before a change's number. Parameters: i_provider, i_before (null: from the newest), i_limit.
-- Result: number and JSON; one row without JSON: there is no such provider. Locks, errors: none.
create or replace function largesse.provider_history(i_provider text, i_before bigint, i_limit int)
returns table (change_id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  (select c.id, jsonb_build_object('id', c.id::text, 'at', largesse.time_text(c.at), 'by', c.actor, 'what', c.what, 'from', c.from_value, 'to', c.to_value,
                                  'reason', c.reason)::text
    from largesse.provider_change c where c.provider = i_provider and (i_before is null or c.id < i_before) order by c.id desc limit i_limit)
  union all
  select 0, null where not exists (select from largesse.provider_state s where s.provider = i_provider)
$$;

-- Pauses a provider: nothing is taken for it until then, or until it is resumed. A pause that runs already gets the new end.
-- Parameters: i_provider, i_until (null: until resumed) or i_for (from now), i_actor, i_reason (may be null).
-- Result: outcome ok | NOT_FOUND | INVALID (the end is not in the future), detail, whether anything changed, the provider as JSON.
-- Locks: the provider's row. Errors: none.
create or replace function largesse.provider_pause(i_provider text, i_until timestamptz, i_for interval, i_actor text, i_reason text)
returns table (outcome text, detail text, changed boolean, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now   timestamptz := largesse.clock_now();
  v_until timestamptz := coalesce(i_until, v_now + i_for, 'infinity');
  v_old   largesse.provider_state;
begin
  select * into v_old from largesse.provider_state s where s.provider = i_provider for no key update;
  if not found then return query select 'NOT_FOUND', 'no fulfiller has served such a provider', false, null::text; return; end if;
  if v_until <= v_now then return query select 'INVALID', 'the end of the pause must lie in the future', false, null::text; return; end if;
  changed := coalesce(v_old.paused_until, '-infinity') is distinct from v_until;
  if changed then
    update largesse.provider_state s set paused_until = v_until, version = s.version + 1, changed_at = v_now where s.provider = i_provider;
    insert into largesse.provider_change (provider, at, actor, what, from_value, to_value, reason)
      values (i_provider, v_now, i_actor, 'pause', largesse.pause_text(v_old.paused_until, v_now), largesse.pause_text(v_until, v_now), i_reason);
    perform largesse.log_append(i_actor, 'provider.pause', i_provider, i_reason, jsonb_build_object('until', largesse.pause_text(v_until, v_now)));
  end if;
  return query select 'ok', null::text, changed, l.doc from largesse.provider_list(i_provider) l;
end $$;

-- Ends a pause. Parameters: i_provider, i_actor, i_reason. Result: as provider_pause. Locks: the provider's row. Errors: none.
create or replace function largesse.provider_resume(i_provider text, i_actor text, i_reason text)
returns table (outcome text, detail text, changed boolean, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
  v_old largesse.provider_state;
begin
  select * into v_old from largesse.provider_state s where s.provider = i_provider for no key update;
  if not found then return query select 'NOT_FOUND', 'no fulfiller has served such a provider', false, null::text; return; end if;
  changed := coalesce(v_old.paused_until > v_now, false);
  if changed then
    update largesse.provider_state s set paused_until = v_now, version = s.version + 1, changed_at = v_now where s.provider = i_provider;
    insert into largesse.provider_change (provider, at, actor, what, from_value, to_value, reason)
      values (i_provider, v_now, i_actor, 'pause', largesse.pause_text(v_old.paused_until, v_now), null, i_reason);
    perform largesse.log_append(i_actor, 'provider.resume', i_provider, i_reason);
  end if;
  return query select 'ok', null::text, changed, l.doc from largesse.provider_list(i_provider) l;
end $$;

-- What became of a limit, for people: "concurrency 512 -> 5", "rate unchanged". Parameters: i_what, the values in force before and after. Locks, errors: none.
create or replace function largesse.provider_change_text(i_what text, i_old text, i_new text) returns text
language sql immutable parallel safe
as $$ select i_what || case when i_old is distinct from i_new then ' ' || i_old || ' -> ' || i_new else ' unchanged' end $$;

-- A rate for people. Parameters: i_rate per second, 0 is unlimited. Locks, errors: none.
create or replace function largesse.provider_rate_text(i_rate numeric) returns text
language sql immutable parallel safe
as $$ select case i_rate when 0 then 'unlimited' else trim_scale(i_rate) || '/s' end $$;

-- Sets limits, over all fulfillers, and holds the breaker or lets it go.
-- Parameters: i_provider; i_concurrency and i_rate: null leaves it, 'default' is as configured, else a number; i_breaker: null leaves it, 'open' and 'closed' hold it
-- there, 'auto' lets it go (an open one may probe at once); i_actor, i_reason.
-- Result: as provider_pause; INVALID: a value is out of range; ok: the detail says what became of each. Locks: the provider's row. Errors: none.
create or replace function largesse.provider_set(i_provider text, i_concurrency text, i_rate text, i_breaker text, i_actor text, i_reason text)
returns table (outcome text, detail text, changed boolean, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
  v_old largesse.provider_state;
  v_new largesse.provider_state;
begin
  select * into v_old from largesse.provider_state s where s.provider = i_provider for no key update;
  if not found then return query select 'NOT_FOUND', 'no fulfiller has served such a provider', false, null::text; return; end if;
  detail := case
    when i_concurrency <> 'default' and (i_concurrency !~ '^[0-9]{1,4}$' or i_concurrency::int not between 1 and 4096)
      then 'concurrency must be from 1 to 4096, or default'
    when i_rate <> 'default' and case when i_rate ~ '^[0-9]{1,7}([.][0-9]{1,6})?$' then i_rate::numeric <> 0 and i_rate::numeric not between 0.01 and 1000000
                                      else true end
      then 'rate must be from 0.01 to 1000000 per second, 0 for unlimited, or default'
    when i_breaker not in ('open', 'closed', 'auto') then 'breaker must be open, closed or auto' end;
  if detail is not null then return query select 'INVALID', detail, false, null::text; return; end if;

  v_new := v_old;
  if i_concurrency is not null then v_new.concurrency := nullif(i_concurrency, 'default')::int; end if;
  if i_rate is not null then v_new.rate := nullif(i_rate, 'default')::numeric; end if;
  v_new.breaker_forced := coalesce(i_breaker <> 'auto', v_old.breaker_forced);
  if i_breaker = 'open' then
    v_new.breaker := 'open'; v_new.breaker_until := 'infinity';
  elsif i_breaker = 'closed' and v_old.breaker <> 'closed' then
    v_new.breaker := 'closed'; v_new.breaker_until := v_now; v_new.breaker_opens := 0;
  elsif i_breaker = 'auto' and v_old.breaker = 'open' then
    v_new.breaker_until := least(v_old.breaker_until, v_now);
  end if;
  if v_new.breaker <> 'half_open' then v_new.probe_by := null; v_new.probe_until := null; end if;

  insert into largesse.provider_change (provider, at, actor, what, from_value, to_value, reason)
    select i_provider, v_now, i_actor, d.what, d.from_value, d.to_value, i_reason
      from (values (1, 'concurrency', v_old.concurrency::text, v_new.concurrency::text), (2, 'rate', v_old.rate::text, v_new.rate::text),
                   (3, 'breaker', v_old.breaker, v_new.breaker),
                   (4, 'breaker_hold', case when v_old.breaker_forced then v_old.breaker else 'auto' end,
                                       case when v_new.breaker_forced then v_new.breaker else 'auto' end)) as d(place, what, from_value, to_value)
     where d.from_value is distinct from d.to_value order by d.place;
  changed := found;
  if changed then
    update largesse.provider_state s
       set concurrency = v_new.concurrency, rate = v_new.rate, breaker = v_new.breaker, breaker_until = v_new.breaker_until,
           breaker_forced = v_new.breaker_forced, breaker_opens = v_new.breaker_opens, probe_by = v_new.probe_by, probe_until = v_new.probe_until,
           version = s.version + 1, changed_at = v_now
     where s.provider = i_provider;
    perform largesse.log_append(i_actor, 'provider.set', i_provider, i_reason,
      jsonb_strip_nulls(jsonb_build_object('concurrency', i_concurrency, 'rate', i_rate, 'breaker', i_breaker)));
  end if;
  detail := concat_ws('; ',
    largesse.provider_change_text('concurrency', coalesce(v_old.concurrency, v_old.configured_concurrency)::text,
                                  coalesce(v_new.concurrency, v_new.configured_concurrency)::text),
    largesse.provider_change_text('rate', largesse.provider_rate_text(coalesce(v_old.rate, v_old.configured_rate)),
                                  largesse.provider_rate_text(coalesce(v_new.rate, v_new.configured_rate))),
    case when i_breaker is not null
         then largesse.provider_change_text('breaker', v_old.breaker || case when v_old.breaker_forced then ' (held)' else '' end,
                                            v_new.breaker || case when v_new.breaker_forced then ' (held)' else '' end) end);
  return query select 'ok', detail, changed, l.doc from largesse.provider_list(i_provider) l;
end $$;
