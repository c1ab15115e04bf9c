-- SPDX-License-Identifier: Apache-2.0
-- Outgoing webhooks, as the fulfillers work on them. A delivery is taken by counting the attempt and moving next_at ahead (the lease); a worker that dies
-- leaves it to the next one. The id and the bytes are the same on every attempt.

-- What the configuration of a fulfiller says; told once, when it starts. What others told stays as it is.
-- Parameters (parallel arrays): names, origins, hashes of the addresses, types (separated by spaces). Result: nothing. Another address forgets failures,
-- and lifts a disabling that the old one brought about. Locks: the endpoints, ascending. Errors: 40P01 (repeat).
create or replace function largesse.webhook_register(i_names text[], i_origins text[], i_hashes text[], i_types text[]) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  perform 1 from largesse.webhook_endpoint e order by e.name for no key update;
  insert into largesse.webhook_endpoint as e (name, origin, url_hash, types, is_configured, changed_at, named_at)
    select r.name, r.origin, r.hash, string_to_array(r.types, ' '), true, v_now, v_now
      from unnest(i_names, i_origins, i_hashes, i_types) as r(name, origin, hash, types) order by r.name
  on conflict (name) do update
    set origin = excluded.origin, url_hash = excluded.url_hash, types = excluded.types, is_configured = true, named_at = v_now,
        changed_at = case when e.is_configured and (e.origin, e.url_hash, e.types) is not distinct from (excluded.origin, excluded.url_hash, excluded.types)
                          then e.changed_at else v_now end,
        failing_since = case when e.url_hash = excluded.url_hash then e.failing_since end,
        disabled_at = case when e.url_hash = excluded.url_hash or e.disabled_by = 'operator' then e.disabled_at end,
        disabled_by = case when e.url_hash = excluded.url_hash or e.disabled_by = 'operator' then e.disabled_by end;
end $$;

-- Said again and again by each fulfiller: these endpoints are still in its configuration. What it says of them stays as it was registered last: while another
-- address is rolled out, the old one does not come back.
-- Parameters: i_names; i_forget_after: endpoints that nobody has named for so long are no longer told anything (null: none is forgotten; for a fulfiller that
-- has just started, since the others may be about to). Result: nothing. Locks: the endpoints, ascending. Errors: 40P01 (repeat).
create or replace function largesse.webhook_name(i_names text[], i_forget_after interval) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  perform 1 from largesse.webhook_endpoint e order by e.name for no key update;
  update largesse.webhook_endpoint e
     set named_at = v_now, is_configured = true, changed_at = case when e.is_configured then e.changed_at else v_now end
   where e.name = any (i_names);
  update largesse.webhook_endpoint e set is_configured = false, changed_at = v_now where e.is_configured and e.named_at < v_now - i_forget_after;
end $$;

-- Takes deliveries that are due. Parameters: i_endpoint, i_limit, i_lease. Result: the deliveries, none while the endpoint is disabled; attempt is the
-- fencing token, tries counts since the last replay. Locks: those rows, skipping locked ones. Errors: none.
create or replace function largesse.webhook_take(i_endpoint text, i_limit int, i_lease interval)
returns table (id bigint, event_id text, type text, trace text, body text, attempt int, tries int)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  if not exists (select from largesse.webhook_endpoint e where e.name = i_endpoint and e.is_configured and e.disabled_at is null) then return; end if;
  return query
  with due as materialized (
    select w.id from largesse.webhook_out w
     where w.endpoint = i_endpoint and w.state = 'waiting' and w.next_at <= v_now order by w.next_at, w.id limit i_limit
       for no key update skip locked
  )
  update largesse.webhook_out w set attempts = w.attempts + 1, next_at = v_now + i_lease from due where w.id = due.id
  returning w.id, w.event_id, w.type, w.trace, w.body, w.attempts, w.attempts - w.attempts_before;
end $$;

-- Writes what attempts brought. Parameters: i_endpoint; parallel arrays: i_ids, i_attempts (of webhook_take), i_outcomes ('done', 'retry', 'dead', or 'gone':
-- the endpoint says it is no longer there), i_statuses (null: no answer), i_details, i_due_ms until the next attempt; i_disable_after without a success.
-- Result: one row: why the endpoint has now been disabled ('gone', 'failing'), or null. Deliveries that a newer attempt owns are left alone.
-- Locks: the endpoint, then the deliveries, ascending. Errors: 40P01 (repeat).
create or replace function largesse.webhook_settle(
  i_endpoint text, i_ids bigint[], i_attempts int[], i_outcomes text[], i_statuses int[], i_details text[], i_due_ms bigint[], i_disable_after interval)
returns table (disabled_by text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_now      timestamptz := largesse.clock_now();
  v_has_done boolean := 'done' = any (i_outcomes);
  v_failure  text;
  v_end      largesse.webhook_endpoint;
  v_cause    text;
begin
  select e.* into v_end from largesse.webhook_endpoint e where e.name = i_endpoint for no key update;
  perform 1 from largesse.webhook_out w where w.id = any (i_ids) order by w.id for no key update;
  update largesse.webhook_out w
     set state = case r.outcome when 'done' then 'done' when 'dead' then 'dead' else 'waiting' end,
         next_at = case when r.outcome in ('retry', 'gone') then v_now + r.due_ms * interval '1 millisecond' end,
         finished_at = case when r.outcome in ('done', 'dead') then v_now end,
         last_status = r.status, last_detail = r.detail, last_at = v_now
    from unnest(i_ids, i_attempts, i_outcomes, i_statuses, i_details, i_due_ms) as r(id, attempt, outcome, status, detail, due_ms)
   where w.id = r.id and w.attempts = r.attempt and w.state = 'waiting';
  select max(coalesce(r.detail, 'HTTP ' || r.status)) into v_failure
    from unnest(i_outcomes, i_statuses, i_details) as r(outcome, status, detail) where r.outcome <> 'done';
  if 'gone' = any (i_outcomes) then
    v_cause := 'gone';
  elsif not v_has_done and v_end.failing_since < v_now - i_disable_after then
    v_cause := 'failing';
  end if;
  if v_end.disabled_at is not null then v_cause := null; end if;
  -- Not at every success: the row would be written as often as deliveries are made.
  if v_failure is not null or v_end.failing_since is not null or v_end.last_success_at is null or v_end.last_success_at < v_now - interval '1 second' then
    update largesse.webhook_endpoint e
       set last_success_at = case when v_has_done then v_now else e.last_success_at end,
           failing_since = case when v_has_done then null else coalesce(e.failing_since, v_now) end,
           last_failure_at = case when v_failure is not null then v_now else e.last_failure_at end,
           last_failure = coalesce(v_failure, e.last_failure),
           disabled_at = case when v_cause is not null then v_now else e.disabled_at end,
           disabled_by = coalesce(v_cause, e.disabled_by)
     where e.name = i_endpoint;
  end if;
  if v_cause is not null then
    perform largesse.webhook_changed(i_endpoint, 'disabled', 'system', case v_cause when 'gone' then 'the endpoint answered 410' else 'no success for too long' end);
  end if;
  return query select v_cause;
end $$;

-- Records a change of an endpoint, and tells it as an event. Locks, errors: none.
create or replace function largesse.webhook_changed(i_endpoint text, i_action text, i_actor text, i_reason text) returns void
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
  v_id  bigint;
begin
  insert into largesse.webhook_change (endpoint, action, actor, reason, at) values (i_endpoint, i_action, i_actor, i_reason, v_now) returning id into v_id;
  if i_actor <> 'system' and i_action <> 'replayed' then  -- webhook_replay says how many
    perform largesse.log_append(i_actor, case i_action when 'enabled' then 'webhook.enable' when 'disabled' then 'webhook.disable' else 'webhook.test' end,
                                i_endpoint, i_reason);
  end if;
  if i_action not in ('enabled', 'disabled') then return; end if;
  perform largesse.event_emit('webhook.' || i_action, v_now, array['webhook-' || v_id], array[i_endpoint], array[''],
    array[jsonb_build_object('name', i_endpoint, 'actor', i_actor, 'reason', i_reason)::text]);
end $$;

-- For the metrics. Result: a row per configured endpoint: deliveries that wait (counted up to 10,000), the age of the oldest one that is due in seconds,
-- and whether it is disabled. Locks, errors: none.
create or replace function largesse.webhook_figures()
returns table (name text, waiting bigint, lag_seconds double precision, is_disabled boolean)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
  select e.name, (select count(*) from (select from largesse.webhook_out w where w.endpoint = e.name and w.state = 'waiting' limit 10000) n),
         coalesce((select greatest(0, extract(epoch from largesse.clock_now() - w.next_at))::double precision from largesse.webhook_out w
                    where w.endpoint = e.name and w.state = 'waiting' order by w.next_at limit 1), 0),
         e.disabled_at is not null
    from largesse.webhook_endpoint e where e.is_configured order by e.name
$$;

-- Throws away what nobody needs any more: deliveries that ended, and those of endpoints that are no longer configured, after the retention.
-- Parameters: i_retention, i_limit at most. Result: how many. Locks: those rows, skipping locked ones. Errors: none.
create or replace function largesse.webhook_purge(i_retention interval, i_limit int) returns bigint
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off
as $$
declare
  v_until timestamptz := largesse.clock_now() - i_retention;
  v_count bigint;
begin
  with old as materialized (
    select w.id from largesse.webhook_out w where w.state <> 'waiting' and w.finished_at < v_until limit i_limit for update skip locked
  ), unwanted as materialized (
    select w.id from largesse.webhook_endpoint e cross join lateral (
             select w.id, w.created_at from largesse.webhook_out w where w.endpoint = e.name and w.state = 'waiting' order by w.next_at limit i_limit) w
     where not e.is_configured and w.created_at < v_until
  ), gone as (
    delete from largesse.webhook_out w where w.id in (select old.id from old union select unwanted.id from unwanted) returning 1
  )
  select count(*) into v_count from gone;
  return v_count;
end $$;
