-- SPDX-License-Identifier: Apache-2.0
-- The shape of rewards.

-- What is wrong with a reward's document. Parameters: i_doc, i_code: see activity_doc_fault; i_known: the providers that are configured (none: any).
-- Result: path and what is wrong, of the first fault; null: nothing. Locks, errors: none.
create or replace function largesse.reward_doc_fault(i_doc json, i_code text, i_known text[] default '{}') returns text
language plpgsql immutable parallel safe
set search_path = largesse, pg_temp
as $$
declare
  v_shape constant jsonb := '[{"name": "provider", "type": "text", "needed": true, "max": 64}, {"name": "code", "type": "any"},
    {"name": "amount", "type": "money", "min": 0, "max": 9223372036854775807}, {"name": "params", "type": "object"}]';
begin
  if json_typeof(i_doc) <> 'object' then return 'must be an object'; end if;
  return coalesce(
    largesse.doc_own_code_fault(i_doc, 'code', i_code),
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[0]'), ''),
    case when cardinality(i_known) > 0 and i_doc ->> 'provider' <> all (i_known) then 'provider: is not configured under fulfiller.providers' end,
    largesse.doc_fault(i_doc, v_shape, ''));
end $$;

-- Checks a document and puts it. Parameters: as reward_doc_fault; i_actor, i_reason as reward_put. Result: outcome created | updated | unchanged | INVALID_REQUEST, and why; the reward as JSON text.
-- Locks: as reward_put. Errors: none.
create or replace function largesse.reward_doc_put(i_doc json, i_code text, i_known text[], i_actor text, i_reason text)
returns table (outcome text, detail text, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  detail := largesse.reward_doc_fault(i_doc, i_code, i_known);
  outcome := case when detail is not null then 'INVALID_REQUEST'
                  else largesse.reward_put(coalesce(i_code, i_doc ->> 'code'), i_doc ->> 'provider', (i_doc #>> '{amount,amount}')::bigint, i_doc #>> '{amount,currency}',
                                           (i_doc -> 'params')::jsonb, i_actor, i_reason) end;
  doc := case when detail is null then largesse.reward_json(coalesce(i_code, i_doc ->> 'code')) end;
  return next;
end $$;

-- Parameters: i_after: the last code seen ('' to begin); i_limit. Result: a row per reward in the order of codes: code and JSON text as reward_json. Locks, errors: none.
create or replace function largesse.reward_list(i_after text, i_limit int) returns table (code text, doc text)
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select c.code, largesse.reward_json(c.code)
    from (select distinct r.code from largesse.reward r where r.purpose = 'delivery' and r.code > i_after order by r.code limit i_limit) c
$$;
