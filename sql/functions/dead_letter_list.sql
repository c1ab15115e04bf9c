-- SPDX-License-Identifier: Apache-2.0
-- Reading dead letters: one by one, in groups of one cause, and one with everything that is known about it.

-- A letter as lists show it, or whole: with its message, its claim, each call at the provider as sent and answered, the callbacks about it, the claim's other
-- letters, and what people ordered about it.
-- Parameters: i_letter, i_is_whole. Result: JSON text. Locks: none. Errors: none.
create or replace function largesse.dead_letter_json(i_letter largesse.dead_letter, i_is_whole boolean) returns text
language sql stable
as $$
  select json_strip_nulls(json_build_object(
           'id', i_letter.id::text, 'claimId', i_letter.activity_id || '-' || i_letter.claim_id, 'activityCode', a.code,
           'userId', c.user_id::text, 'bizId', c.biz_id, 'provider', i_letter.provider, 'cause', i_letter.cause, 'code', i_letter.code, 'detail', i_letter.detail,
           'fingerprint', i_letter.fingerprint,
           'claimStatus', c.status, 'attempts', case when c.id is not null then i_letter.attempts end,
           'state', case when i_letter.closed_at is null then 'open' else 'closed' end,
           'openedAt', largesse.time_text(i_letter.opened_at), 'closedAt', largesse.time_text(i_letter.closed_at),
           'resolution', i_letter.resolution, 'closedBy', i_letter.closed_by, 'reason', i_letter.close_reason,
           'body', case when i_is_whole then i_letter.body end,
           'claim', case when i_is_whole and c.id is not null then largesse.claim_json(c, a.code)::json end,
           'history', case when i_is_whole then coalesce((
             select json_agg(json_build_object('attempt', t.attempt, 'step', t.step, 'call', t.call, 'provider', t.provider,
                               'startedAt', largesse.time_text(t.started_at), 'durationMs', round(t.duration_us / 1000.0), 'outcome', t.outcome,
                               'httpStatus', t.http_status, 'code', t.code, 'detail', t.detail, 'trace', replace(t.trace::text, '-', ''),
                               'request', t.request, 'answer', t.answer) order by t.attempt, t.call)
               from largesse.attempt t where t.activity_id = i_letter.activity_id and t.claim_id = i_letter.claim_id), '[]') end,
           'callbacks', case when i_is_whole and i_letter.claim_id is not null then coalesce((
             select json_agg(json_build_object('eventId', b.event_id, 'action', b.action, 'outcome', b.outcome, 'state', b.state, 'ref', b.ref, 'code', b.code,
                               'detail', b.detail, 'amount', b.amount, 'occurredAt', largesse.time_text(b.occurred_at),
                               'receivedAt', largesse.time_text(b.received_at), 'trace', replace(b.trace::text, '-', ''), 'body', b.body)
                               order by b.received_at, b.event_id)
               from largesse.callback b where b.activity_id = i_letter.activity_id and b.claim_id = i_letter.claim_id), '[]') end,
           'operations', case when i_is_whole then coalesce((
             select json_agg(json_build_object('operationId', o.id::text, 'kind', o.kind, 'actor', o.actor, 'reason', o.reason, 'proof', o.proof,
                               'outcome', coalesce(i.outcome, 'to_do'), 'at', largesse.time_text(i.at)) order by o.id)
               from (select i.* from largesse.operation_item i where i.activity_id = i_letter.activity_id and i.claim_id = i_letter.claim_id
                     union
                     select i.* from largesse.operation_item i where i.letter_id = i_letter.id) i
               join largesse.operation o on o.id = i.operation_id), '[]') end,
           'letters', case when i_is_whole then coalesce((
             select json_agg(json_build_object('id', o.id::text, 'cause', o.cause, 'openedAt', largesse.time_text(o.opened_at),
                               'closedAt', largesse.time_text(o.closed_at), 'resolution', o.resolution, 'closedBy', o.closed_by,
                               'reason', o.close_reason) order by o.id)
               from largesse.dead_letter o
              where o.activity_id = i_letter.activity_id and o.claim_id = i_letter.claim_id and o.id <> i_letter.id), '[]') end))::text
    from (values (1)) one(n)
    left join largesse.activity a on a.id = i_letter.activity_id
    left join largesse.claim c on c.activity_id = i_letter.activity_id and c.id = i_letter.claim_id
$$;

-- What a filter of letters asks of `dead_letter d`, as text of a statement: written out, so that each filter has the plan that suits it.
-- Parameters: i_provider, i_cause, i_activity_code, i_fingerprint (null: any). Result: text that begins with ` and`, or nothing. Locks, errors: none.
create or replace function largesse.dead_letter_conditions(i_provider text, i_cause text, i_activity_code text, i_fingerprint text) returns text
language sql immutable
as $$
  select concat(case when i_provider is not null then format(' and d.provider = %L', i_provider) end,
                case when i_cause is not null then format(' and d.cause = %L', i_cause) end,
                case when i_activity_code is not null then format(' and d.activity_id = (select a.id from largesse.activity a where a.code = %L)', i_activity_code) end,
                case when i_fingerprint is not null then format(' and d.fingerprint = %L', i_fingerprint) end)
$$;

-- Parameters: i_state (open, closed, all), i_provider, i_cause, i_activity_code and i_fingerprint (null: any), i_after: the last id seen (0 to begin), i_limit.
-- Result: id and JSON text per letter, oldest first. Locks: none. Errors: none.
create or replace function largesse.dead_letter_list(
  i_state text, i_provider text, i_cause text, i_activity_code text, i_fingerprint text, i_after bigint, i_limit int)
returns table (id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select d.id, largesse.dead_letter_json(d, false)
    from (select d.* from largesse.dead_letter d
           where d.id > i_after
             and (i_state = 'all' or (d.closed_at is null) = (i_state = 'open'))
             and (i_provider is null or d.provider = i_provider)
             and (i_cause is null or d.cause = i_cause)
             and (i_activity_code is null or d.activity_id = (select a.id from largesse.activity a where a.code = i_activity_code))
             and (i_fingerprint is null or d.fingerprint = i_fingerprint)
           order by d.id limit i_limit) d
   order by d.id
$$;

-- The same letters by provider and fingerprint, the largest group first.
-- Parameters: as dead_letter_list; i_after: how many groups have been seen (0 to begin). Result: place and JSON text per group, with its oldest and newest
-- letter's time and one letter as an example. Locks: none. Errors: none.
create or replace function largesse.dead_letter_groups(
  i_state text, i_provider text, i_cause text, i_activity_code text, i_fingerprint text, i_after bigint, i_limit int)
returns table (place bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select g.place, json_strip_nulls(json_build_object(
           'fingerprint', g.fingerprint, 'provider', g.provider, 'cause', d.cause, 'code', d.code, 'count', g.letters,
           'oldest', largesse.time_text(g.oldest), 'newest', largesse.time_text(g.newest),
           'example', json_build_object('id', d.id::text, 'claimId', d.activity_id || '-' || d.claim_id, 'detail', d.detail)))::text
    from (select row_number() over (order by count(*) desc, min(d.id)) as place, d.fingerprint, d.provider, count(*) as letters,
                 min(d.opened_at) as oldest, max(d.opened_at) as newest, max(d.id) as example
            from largesse.dead_letter d
           where (i_state = 'all' or (d.closed_at is null) = (i_state = 'open'))
             and (i_provider is null or d.provider = i_provider)
             and (i_cause is null or d.cause = i_cause)
             and (i_activity_code is null or d.activity_id = (select a.id from largesse.activity a where a.code = i_activity_code))
             and (i_fingerprint is null or d.fingerprint = i_fingerprint)
           group by d.fingerprint, d.provider) g
    join largesse.dead_letter d on d.id = g.example
   where g.place > i_after
   order by g.place limit i_limit
$$;

-- The newest letter of a claim. Parameters: the claim. Result: its id, or null. Locks: none. Errors: none.
create or replace function largesse.dead_letter_of_claim(i_activity_id bigint, i_claim_id bigint) returns bigint
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$ select max(d.id) from largesse.dead_letter d where d.activity_id = i_activity_id and d.claim_id = i_claim_id $$;

-- Everything about one letter. Parameters: i_id. Result: JSON text; no row if there is no such letter. Locks: none. Errors: none.
create or replace function largesse.dead_letter_show(i_id bigint)
returns table (doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$ select largesse.dead_letter_json(d, true) from largesse.dead_letter d where d.id = i_id $$;
