-- SPDX-License-Identifier: Apache-2.0
-- The shape of a claim's request, for calls that are not in a hurry; what claims are made from is read by the scheduler, in the same words.

-- An id or a number, given as an integer or as its digits. Parameters: i_value, i_min, i_max. Result: null for anything else. Locks, errors: none.
create or replace function largesse.doc_whole(i_value json, i_min bigint, i_max bigint) returns bigint
language sql immutable parallel safe
as $$
  select case when json_typeof(i_value) in ('number', 'string') and t ~ '^(0|[1-9][0-9]{0,18})$' and t::numeric between i_min and i_max then t::bigint end
    from (select largesse.doc_text(i_value)) v(t)
$$;

-- What is wrong with the numbers of a request. Parameters: i_numbers: the member; null: it is not there. Result: null: nothing. Locks, errors: none.
create or replace function largesse.claim_numbers_fault(i_numbers json) returns text
language plpgsql immutable parallel safe
set search_path = largesse, pg_temp
as $$
begin
  if i_numbers is null then return null; end if;
  if json_typeof(i_numbers) <> 'array' then return 'numbers: must be a list'; end if;
  if json_array_length(i_numbers) not between 1 and 100 then return 'numbers: must be 1 to 100 numbers'; end if;
  if exists (select from json_array_elements(i_numbers) n where largesse.doc_whole(n, 0, 999999999999) is null) then
    return 'numbers: must be integers from 0 to 999999999999';
  end if;
  if (select count(distinct largesse.doc_whole(n, 0, 999999999999)) from json_array_elements(i_numbers) n) < json_array_length(i_numbers) then
    return 'numbers: must be distinct';
  end if;
  return null;
end $$;

-- What is wrong with a request. Parameters: i_doc: JSON without names that are there twice and without NUL. Result: path and what is wrong, of the first fault; null:
-- nothing. Locks, errors: none.
create or replace function largesse.claim_doc_fault(i_doc json) returns text
language plpgsql immutable parallel safe
set search_path = largesse, pg_temp
as $$
declare
  v_shape constant jsonb := '[{"name": "activityCode", "type": "text", "needed": true, "max": 64}, {"name": "userId", "type": "any", "needed": true},
    {"name": "bizId", "type": "text", "needed": true, "max": 64}, {"name": "channel", "type": "text", "max": 64},
    {"name": "quantity", "type": "int", "min": 1, "max": 2147483647}, {"name": "numbers", "type": "any"}]';
begin
  if json_typeof(i_doc) <> 'object' then return 'must be an object'; end if;
  return coalesce(
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[0]'), ''),
    case when i_doc ->> 'activityCode' !~ '^[A-Za-z0-9][A-Za-z0-9._-]*$' then 'activityCode: must be 1 to 64 characters of A-Z a-z 0-9 . _ - that begin with a letter or digit' end,
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[1]'), ''),
    case when largesse.doc_whole(i_doc -> 'userId', 1, 9223372036854775807) is null then 'userId: must be an id from 1 to 9223372036854775807' end,
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[2]'), ''),
    case when i_doc ->> 'bizId' !~ '^[A-Za-z0-9._:-]+$' then 'bizId: must be 1 to 64 characters of A-Z a-z 0-9 . _ : -' end,
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[3]'), ''),
    case when i_doc ->> 'channel' = '' then 'channel: must be 1 to 64 characters' end,
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[4]'), ''),
    largesse.claim_numbers_fault(i_doc -> 'numbers'),
    case when (i_doc ->> 'quantity')::bigint <> json_array_length(i_doc -> 'numbers') then 'quantity: must be the count of numbers, or left out' end,
    largesse.doc_unknown_fault(i_doc, v_shape, ''));
end $$;

-- A dry run of a request. Parameters: i_doc as claim_doc_fault; i_at as claim_explain. Result: as claim_explain; verdict FAULT with what is wrong with the request.
-- Locks, errors: as claim_explain.
create or replace function largesse.claim_explain_doc(i_doc json, i_at timestamptz)
returns table (verdict text, detail text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_fault   text := largesse.claim_doc_fault(i_doc);
  v_numbers bigint[];
begin
  if v_fault is not null then
    return query select 'FAULT', v_fault;
    return;
  end if;
  if i_doc -> 'numbers' is not null then
    v_numbers := array(select largesse.doc_whole(n, 0, 999999999999) as number from json_array_elements(i_doc -> 'numbers') n order by number);
  end if;
  return query
    select e.verdict, e.detail
      from largesse.claim_explain(i_doc ->> 'activityCode', largesse.doc_whole(i_doc -> 'userId', 1, 9223372036854775807), i_doc ->> 'bizId',
                                  coalesce((i_doc ->> 'quantity')::int, cardinality(v_numbers), 1), i_doc ->> 'channel', v_numbers, i_at) e;
end $$;
