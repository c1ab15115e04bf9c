-- SPDX-License-Identifier: Apache-2.0
-- Outgoing webhooks, as operators see and change them.

-- The endpoints by name. Parameters: i_after (a name, null: from the start), i_limit. Result: JSON per endpoint. Locks, errors: none.
create or replace function largesse.webhook_list(i_after text, i_limit int) returns table (name text, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select e.name, json_strip_nulls(json_build_object(
           'name', e.name, 'origin', e.origin, 'types', to_json(e.types), 'configured', e.is_configured,
           'status', case when not e.is_configured then 'removed' when e.disabled_at is not null then 'disabled'
                          when e.failing_since is not null then 'failing' else 'enabled' end,
           'disabledAt', largesse.time_text(e.disabled_at), 'disabledBy', e.disabled_by, 'failingSince', largesse.time_text(e.failing_since),
           'lastSuccessAt', largesse.time_text(e.last_success_at), 'lastFailureAt', largesse.time_text(e.last_failure_at), 'lastFailure', e.last_failure,
           'waiting', (select count(*) from (select from largesse.webhook_out w where w.endpoint = e.name and w.state = 'waiting' limit 10000) n),
           'dead', (select count(*) from (select from largesse.webhook_out w where w.endpoint = e.name and w.state = 'dead' limit 10000) n)))::text
    from largesse.webhook_endpoint e where e.name > coalesce(i_after, '') order by e.name limit i_limit
$$;

-- Deliveries to an endpoint, newest first. Parameters: i_endpoint; i_state (null: all); i_before (an id, null: from the newest); i_limit.
-- Result: JSON per delivery; one row without JSON: there is no such endpoint. Locks, errors: none.
create or replace function largesse.webhook_deliveries(i_endpoint text, i_state text, i_before bigint, i_limit int) returns table (id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  (select w.id, json_strip_nulls(json_build_object(
           'id', w.id::text, 'eventId', w.event_id, 'type', w.type, 'state', w.state, 'attempts', w.attempts, 'createdAt', largesse.time_text(w.created_at),
           'nextAttemptAt', largesse.time_text(w.next_at), 'finishedAt', largesse.time_text(w.finished_at), 'lastAttemptAt', largesse.time_text(w.last_at),
           'lastStatus', w.last_status, 'lastDetail', w.last_detail))::text
    from largesse.webhook_out w
   where w.endpoint = i_endpoint and (i_state is null or w.state = i_state) and w.id < coalesce(i_before, 9223372036854775807)
   order by w.id desc limit i_limit)
  union all
  select 0, null where not exists (select from largesse.webhook_endpoint e where e.name = i_endpoint)
$$;

-- Parameters: i_name, i_enable, i_actor, i_reason. Result: 'changed' or 'unchanged'; null for an unknown endpoint. What waits is sent again once enabled.
-- Locks: the endpoint. Errors: none.
create or replace function largesse.webhook_switch(i_name text, i_enable boolean, i_actor text, i_reason text) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_was_enabled boolean;
begin
  select e.disabled_at is null into v_was_enabled from largesse.webhook_endpoint e where e.name = i_name for no key update;
  if v_was_enabled is null then return null; end if;
  if v_was_enabled = i_enable then return 'unchanged'; end if;
  update largesse.webhook_endpoint e
     set disabled_at = case when not i_enable then largesse.clock_now() end, disabled_by = case when not i_enable then 'operator' end,
         failing_since = case when not i_enable then e.failing_since end, changed_at = largesse.clock_now()
   where e.name = i_name;
  perform largesse.webhook_changed(i_name, case when i_enable then 'enabled' else 'disabled' end, i_actor, i_reason);
  return 'changed';
end $$;

-- Deliveries are made once more, with the same id and bytes, and their ladder starts anew.
-- Parameters: i_endpoint; i_id (one delivery whatever became of it, null: by time); i_since (created then or later); i_done: delivered ones too, not only dead
-- ones; i_after (an id, 0: from the first) and i_limit, so that many are replayed in portions; i_actor; i_reason (null: not recorded, for further portions).
-- Result: how many, and the id of the last (null: none); no row for an unknown endpoint. Locks: those rows, ascending. Errors: none.
create or replace function largesse.webhook_replay(
  i_endpoint text, i_id bigint, i_since timestamptz, i_done boolean, i_after bigint, i_limit int, i_actor text, i_reason text)
returns table (replayed bigint, last_id bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  if not exists (select from largesse.webhook_endpoint e where e.name = i_endpoint) then return; end if;
  if i_reason is not null then perform largesse.webhook_changed(i_endpoint, 'replayed', i_actor, i_reason); end if;
  with chosen as materialized (
    select w.id from largesse.webhook_out w
     where w.endpoint = i_endpoint and w.state <> 'waiting' and w.id > i_after
       and case when i_id is not null then w.id = i_id else w.created_at >= i_since and (i_done or w.state = 'dead') end
     order by w.id limit i_limit for no key update
  ), again as (
    update largesse.webhook_out w set state = 'waiting', next_at = largesse.clock_now(), finished_at = null, attempts_before = w.attempts
      from chosen where w.id = chosen.id returning w.id
  )
  select count(*), max(again.id) into replayed, last_id from again;
  if replayed > 0 and i_reason is not null then
    perform largesse.log_append(i_actor, 'webhook.replay', i_endpoint, i_reason,
      jsonb_strip_nulls(jsonb_build_object('deliveryId', i_id::text, 'since', largesse.time_text(i_since), 'all', i_done, 'replayed', replayed)));
  end if;
  return next;
end $$;

-- Sends one endpoint a ping, whatever types it asked for. Parameters: i_endpoint, i_actor, i_reason. Result: the delivery's id; null for an unknown endpoint.
-- Locks, errors: none.
create or replace function largesse.webhook_ping(i_endpoint text, i_actor text, i_reason text) returns bigint
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
  v_id  bigint;
begin
  if not exists (select from largesse.webhook_endpoint e where e.name = i_endpoint and e.is_configured) then return null; end if;
  insert into largesse.webhook_out (endpoint, event_id, type, body, created_at, next_at)
    values (i_endpoint, gen_random_uuid()::text, 'webhook.ping', largesse.webhook_body('webhook.ping', v_now, jsonb_build_object('name', i_endpoint)::text), v_now, v_now)
    returning id into v_id;
  perform largesse.webhook_changed(i_endpoint, 'tested', i_actor, i_reason);
  return v_id;
end $$;

-- One delivery. Parameters: i_id. Result: its state, and what the last attempt brought; no row where there is none. Locks: none. Errors: none.
create or replace function largesse.webhook_delivery(i_id bigint) returns table (state text, last_detail text, attempts int)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select w.state, w.last_detail, w.attempts from largesse.webhook_out w where w.id = i_id
$$;
