-- SPDX-License-Identifier: Apache-2.0
-- Reading dead letters, and retrying those that a filter selects.

-- A letter as lists show it, or whole: with its message, its claim, each attempt at the provider, and the claim's other letters.
-- Parameters: i_letter, i_is_whole. Result: JSON text. Locks: none. Errors: none.
create or replace function largesse.dead_letter_json(i_letter largesse.dead_letter, i_is_whole boolean) returns text
language sql stable
as $$
  select json_strip_nulls(json_build_object(
           'id', i_letter.id::text, 'claimId', i_letter.activity_id || '-' || i_letter.claim_id, 'activityCode', a.code,
           'userId', c.user_id::text, 'bizId', c.biz_id, 'provider', i_letter.provider, 'cause', i_letter.cause, 'code', i_letter.code, 'detail', i_letter.detail,
           'claimStatus', c.status, 'attempts', c.attempts,
           'state', case when i_letter.closed_at is null then 'open' else 'closed' end,
           'openedAt', largesse.time_text(i_letter.opened_at), 'closedAt', largesse.time_text(i_letter.closed_at),
           'resolution', i_letter.resolution, 'closedBy', i_letter.closed_by, 'reason', i_letter.close_reason,
           'body', case when i_is_whole then i_letter.body end,
           'claim', case when i_is_whole and c.id is not null then largesse.claim_json(c, a.code)::json end,
           'history', case when i_is_whole then coalesce((
             select json_agg(json_build_object('attempt', t.attempt, 'call', t.call, 'step', t.step, 'provider', t.provider,
                               'startedAt', largesse.time_text(t.started_at), 'durationMs', round(t.duration_us / 1000.0), 'outcome', t.outcome,
                               'httpStatus', t.http_status, 'code', t.code, 'detail', t.detail, 'request', t.request, 'answer', t.answer)
                               order by t.attempt, t.call)
               from largesse.attempt t where t.activity_id = i_letter.activity_id and t.claim_id = i_letter.claim_id), '[]') end,
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

-- Parameters: i_state (open, closed, all), i_provider, i_cause and i_activity_code (null: any), i_after: the last id seen (0 to begin), i_limit.
-- Result: id and JSON text per letter, oldest first. Locks: none. Errors: none.
create or replace function largesse.dead_letter_list(i_state text, i_provider text, i_cause text, i_activity_code text, i_after bigint, i_limit int)
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
           order by d.id limit i_limit) d
   order by d.id
$$;

-- The newest letter of each claim. Parameters: keys of claims (parallel arrays). Result: a row per claim in the order given; letter_id null: it has none.
-- Locks: none. Errors: none.
create or replace function largesse.dead_letter_of_claims(i_activity_ids bigint[], i_claim_ids bigint[])
returns table (letter_id bigint)
language sql stable security definer
set search_path = largesse, pg_temp
as $$
  select (select d.id from largesse.dead_letter d where d.activity_id = r.a and d.claim_id = r.c order by d.id desc limit 1)
    from unnest(i_activity_ids, i_claim_ids) with ordinality as r(a, c, n) order by r.n
$$;

-- Everything about one letter. Parameters: i_id. Result: JSON text; no row if there is no such letter. Locks: none. Errors: none.
create or replace function largesse.dead_letter_show(i_id bigint)
returns table (doc text)
language sql stable security definer
set search_path = largesse, pg_temp
as $$ select largesse.dead_letter_json(d, true) from largesse.dead_letter d where d.id = i_id $$;

-- One page of a retry: either the letters named, or the open ones that a filter selects, in the order of ids.
-- Parameters: i_ids (null: by filter), i_provider, i_cause and i_activity_code (null: any), i_after: the last id seen (0 to begin), i_limit; i_actor,
-- i_reason and i_dry_run as dead_letter_retry. Result: a row per letter: id, its claim as <activityId>-<n> or null, outcome as dead_letter_retry.
-- Locks, errors: as dead_letter_retry.
create or replace function largesse.dead_letter_retry_where(
  i_ids bigint[], i_provider text, i_cause text, i_activity_code text, i_after bigint, i_limit int, i_actor text, i_reason text, i_dry_run boolean)
returns table (letter_id bigint, claim_ref text, outcome text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids bigint[];
begin
  if i_ids is not null then
    v_ids := array(select distinct i from unnest(i_ids) i where i > i_after order by i limit i_limit);
  else
    v_ids := array(select l.id from largesse.dead_letter_list('open', i_provider, i_cause, i_activity_code, i_after, i_limit) l);
  end if;
  return query
    select r.letter_id, d.activity_id || '-' || d.claim_id, r.outcome
      from largesse.dead_letter_retry(v_ids, i_actor, i_reason, i_dry_run) r
      left join largesse.dead_letter d on d.id = r.letter_id
     order by r.letter_id;
end $$;
