-- SPDX-License-Identifier: Apache-2.0
-- The shape of discount rules.

-- What is wrong with a rule's document. Parameters: i_doc; i_id: the id in the path, see doc_own_code_fault. Result: path and what is wrong, of the first fault; null:
-- nothing. Locks, errors: none.
create or replace function largesse.discount_doc_fault(i_doc json, i_id text) returns text
language plpgsql immutable parallel safe
set search_path = largesse, pg_temp
as $$
declare
  v_has_amount boolean;
  v_shape constant jsonb := '[{"name": "id", "type": "any"},
    {"name": "name", "type": "text", "needed": true, "max": 128}, {"name": "threshold", "type": "int", "needed": true, "min": 0, "max": 9223372036854775807},
    {"name": "discount", "type": "object", "needed": true},
    {"name": "maxPerOrder", "type": "int", "min": 1, "max": 1000}, {"name": "exclusiveGroup", "type": "text", "filled": true, "max": 64},
    {"name": "priority", "type": "int", "needed": true, "min": -1000000, "max": 1000000}, {"name": "rewardCode", "type": "code"},
    {"name": "currency", "type": "currency"}, {"name": "startAt", "type": "time"}, {"name": "endAt", "type": "time"}]';
  v_fault text;
begin
  if json_typeof(i_doc) <> 'object' then return 'must be an object'; end if;
  v_fault := coalesce(largesse.doc_own_code_fault(i_doc, 'id', i_id), largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[0 to 3]'), ''));
  if v_fault is not null then return v_fault; end if;
  v_has_amount := i_doc #> '{discount,amount}' is not null;
  if v_has_amount = (i_doc #> '{discount,percent}' is not null) then return 'discount: must have either amount or percent'; end if;
  return coalesce(
    largesse.doc_fault(i_doc -> 'discount', jsonb_build_array(jsonb_build_object('name', case when v_has_amount then 'amount' else 'percent' end, 'type', 'int', 'min', 1,
                                                                                 'max', case when v_has_amount then 9223372036854775807 else 100 end)), 'discount'),
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[4 to last]'), ''),
    case when largesse.doc_time(i_doc ->> 'endAt') <= largesse.doc_time(i_doc ->> 'startAt') then 'endAt: must be after startAt' end,
    largesse.doc_unknown_fault(i_doc, v_shape, ''));
end $$;

-- Checks a document and puts it. Parameters: as discount_doc_fault; i_actor, i_reason. Result: as discount_rule_put; the rule as JSON text. Locks, errors: as discount_rule_put.
create or replace function largesse.discount_doc_put(i_doc json, i_id text, i_actor text, i_reason text)
returns table (outcome text, detail text, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_put record;
  v_id  text := coalesce(i_id, i_doc ->> 'id');
begin
  detail := largesse.discount_doc_fault(i_doc, i_id);
  if detail is not null then
    outcome := 'INVALID_REQUEST'; return next; return;
  end if;
  select * into v_put from largesse.discount_rule_put(
    i_doc::jsonb || jsonb_strip_nulls(jsonb_build_object('id', v_id, 'startAt', largesse.time_text(largesse.doc_time(i_doc ->> 'startAt')),
                                                         'endAt', largesse.time_text(largesse.doc_time(i_doc ->> 'endAt')))), i_actor, i_reason);
  outcome := v_put.outcome; detail := v_put.detail;
  doc := case when v_put.version is not null then largesse.discount_rule_json(v_id) end;
  return next;
end $$;
