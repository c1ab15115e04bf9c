-- SPDX-License-Identifier: Apache-2.0
-- Reading operations, and ending one before its end.

-- An outcome as a member of JSON: already_done is alreadyDone. Parameters: i_name. Result: text. Locks: none. Errors: none.
create or replace function largesse.operation_member(i_name text) returns text
language sql immutable
as $$ select left(i_name, 1) || substr(replace(initcap(replace(i_name, '_', ' ')), ' ', ''), 2) $$;

-- Parameters: an item's columns. Result: JSON. Locks: none. Errors: none.
create or replace function largesse.operation_item_json(i_letter_id bigint, i_activity_id bigint, i_claim_id bigint, i_key text, i_before text, i_after text, i_outcome text)
returns json
language sql immutable
as $$
  select json_strip_nulls(json_build_object('id', i_letter_id::text, 'key', i_key, 'claimId', i_activity_id || '-' || i_claim_id, 'before', i_before, 'after', i_after, 'outcome', i_outcome))
$$;

-- An operation as answers show it. Parameters: i_op; i_has_items: with what is done, the first of them. Result: JSON text. Locks: none. Errors: none.
create or replace function largesse.operation_json(i_op largesse.operation, i_has_items boolean) returns text
language sql stable
as $$
  select json_object_agg(f.name, f.value order by f.place)::text
    from (select 1 as place, 'operationId' as name, to_json(i_op.id::text) as value
          union all select 2, 'kind', to_json(i_op.kind)
          union all select 3, 'dryRun', to_json(false)
          union all select 4, 'state', to_json(i_op.state)
          union all select 5, 'total', to_json(i_op.total)
          union all select 6, 'done', to_json(i_op.done)
          union all select 6 + o.place, largesse.operation_member(o.name), to_json(coalesce((i_op.counts ->> o.name)::bigint, 0))
                      from unnest(largesse.operation_outcomes(i_op.kind)) with ordinality as o(name, place)
          union all select 50, 'actor', to_json(i_op.actor)
          union all select 51, 'reason', to_json(i_op.reason)
          union all select 52, 'proof', to_json(i_op.proof)
          union all select 53, 'as', case when i_op.kind = 'resolve' then to_json(case when i_op.as_delivered then 'delivered' else 'not-delivered' end) end
          union all select 54, 'rate', to_json(i_op.rate)
          union all select 55, 'key', to_json(i_op.key)
          union all select 56, 'createdAt', to_json(largesse.time_text(i_op.created_at))
          union all select 57, 'finishedAt', to_json(largesse.time_text(i_op.finished_at))
          union all select 58, 'cancelledBy', to_json(i_op.cancelled_by)
          union all select 59, 'cancelReason', to_json(i_op.cancel_reason)
          union all select 100, 'items', case when i_has_items then coalesce((
                      select json_agg(largesse.operation_item_json(i.letter_id, i.activity_id, i.claim_id, i.finding_key, i.before, i.after, i.outcome) order by i.n)
                        from (select * from largesse.operation_item i
                               where i.operation_id = i_op.id and i.outcome is not null order by i.n limit 10000) i), '[]') end) f
   where f.value is not null
$$;

-- One operation. Parameters: i_id, i_has_items. Result: its state and JSON text; no row if there is no such operation. Locks: none. Errors: none.
create or replace function largesse.operation_show(i_id bigint, i_has_items boolean)
returns table (doc text, state text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$ select largesse.operation_json(o, i_has_items), o.state from largesse.operation o where o.id = i_id $$;

-- The operations, newest first. Parameters: i_state (running, done, cancelled, all), i_kind (null: any), i_after: the last id seen (null to begin), i_limit.
-- Result: id and JSON text. Locks: none. Errors: none.
create or replace function largesse.operation_list(i_state text, i_kind text, i_after bigint, i_limit int)
returns table (id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select o.id, largesse.operation_json(o, false) from largesse.operation o
   where (i_after is null or o.id < i_after) and (i_state = 'all' or o.state = i_state) and (i_kind is null or o.kind = i_kind)
   order by o.id desc limit i_limit
$$;

-- What an operation is about, item by item, in the order in which it is done. Parameters: i_id, i_after: the last number seen (0 to begin), i_limit.
-- Result: number and JSON text; no outcome: still to be done. Locks: none. Errors: none.
create or replace function largesse.operation_items(i_id bigint, i_after bigint, i_limit int)
returns table (n bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select i.n, largesse.operation_item_json(i.letter_id, i.activity_id, i.claim_id, i.finding_key, i.before, i.after, i.outcome)::text
    from largesse.operation_item i where i.operation_id = i_id and i.n > i_after order by i.n limit i_limit
$$;

-- Ends an operation; what it has done stays done, the rest is left alone. Parameters: i_id, i_actor, i_reason.
-- Result: as operation_show; one that has ended already is shown as it is. Locks: the operation. Errors: none.
create or replace function largesse.operation_cancel(i_id bigint, i_actor text, i_reason text)
returns table (doc text, state text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  update largesse.operation o
     set state = 'cancelled', finished_at = largesse.clock_now(), cancelled_by = i_actor, cancel_reason = i_reason
   where o.id = i_id and o.state = 'running';
  if found then perform largesse.log_append(i_actor, 'operation.cancel', 'operation/' || i_id, i_reason); end if;
  return query select largesse.operation_json(o, false), o.state from largesse.operation o where o.id = i_id;
end $$;
