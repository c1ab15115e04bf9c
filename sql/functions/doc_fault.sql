-- SPDX-License-Identifier: Apache-2.0
-- The shape of a document: its members one after the other, each with its type and range, and what is not known. What the shape of which document is, stands
-- in the file named after it. A shape is a list of members in the order in which they are looked at:
--   {"name", "type", "needed": true, "min", "max", "words": […], "rule": text, "shape": […], "some": text}
-- type: text (max characters; "filled": not empty), code, word (one of words; max characters; else rule), int (min to max; "nullable"), bool, time, span
-- (more than 0, at most 366 days), object (of that shape, if it has one; "some": at least one member, else this text), money (min, max), any.

-- The text of a scalar. Parameters: i_value. Result: null for JSON null. Locks, errors: none.
create or replace function largesse.doc_text(i_value json) returns text
language sql immutable strict parallel safe
as $$ select i_value #>> '{}' $$;

-- An instant as RFC 3339 spells it, that exists, from 1970 to 9999. Parameters: i_text. Result: null for anything else. Locks, errors: none.
create or replace function largesse.doc_time(i_text text) returns timestamptz
language plpgsql immutable strict parallel safe
as $$
declare
  v_part text[] := regexp_match(i_text, '^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]{1,6})?)(?:Z|([+-])([0-9]{2}):([0-9]{2}))$');
  v_at   timestamp;
begin
  if v_part is null or v_part[1]::int < 1969 or v_part[2]::int not between 1 and 12 or v_part[3]::int = 0 or v_part[4]::int > 23 or v_part[5]::int > 59
     or v_part[6]::numeric >= 60 or coalesce(v_part[8], '0')::int > 23 or coalesce(v_part[9], '0')::int > 59 then
    return null;
  end if;
  v_at := make_timestamp(v_part[1]::int, v_part[2]::int, 1, v_part[4]::int, v_part[5]::int, v_part[6]::float8);
  if v_part[3]::int > extract(day from date_trunc('month', v_at) + interval '1 month - 1 day') then return null; end if;
  v_at := v_at + (v_part[3]::int - 1) * interval '1 day'
          - (coalesce(v_part[7], '+') || '1')::int * make_interval(hours => coalesce(v_part[8], '0')::int, mins => coalesce(v_part[9], '0')::int);
  return case when v_at >= timestamp '1970-01-01' and v_at < timestamp '10000-01-01' then v_at at time zone 'UTC' end;
end $$;

-- What is wrong with an integer. Parameters: i_value, i_min, i_max. Result: null: nothing. Locks, errors: none.
create or replace function largesse.doc_int_fault(i_value json, i_min bigint, i_max bigint) returns text
language sql immutable parallel safe
as $$
  select case when json_typeof(i_value) = 'number' and i_value::text ~ '^-?[0-9]+$' and i_value::text::numeric between i_min and i_max then null
              when i_max = 9223372036854775807 then format('must be an integer of at least %s', i_min)
              else format('must be an integer from %s to %s', i_min, i_max) end
$$;

-- What is wrong with a text. Parameters: i_value, i_rule: a member with type text, code or word. Result: null: nothing. Locks, errors: none.
create or replace function largesse.doc_text_fault(i_value json, i_rule jsonb) returns text
language sql immutable parallel safe
as $$
  select case when json_typeof(i_value) <> 'string' then 'must be a text'
              when char_length(t) > m then format('must have at most %s characters', m)
              when i_rule ->> 'type' = 'code' and t !~ '^[A-Za-z0-9][A-Za-z0-9._-]*$'
                then 'must be 1 to 64 letters, digits, dots, underscores or hyphens, beginning with a letter or digit'
              when i_rule ->> 'type' = 'word' and not i_rule -> 'words' ? t then i_rule ->> 'rule'
              when i_rule ->> 'type' = 'currency' and t !~ '^[A-Z]{3}$' then 'must be a three-letter ISO 4217 code'
              when (i_rule -> 'filled')::boolean and t = '' then 'must not be empty' end
    from (select largesse.doc_text(i_value), coalesce((i_rule ->> 'max')::int, case i_rule ->> 'type' when 'currency' then 3 when 'code' then 64 else 32 end)) v(t, m)
$$;

-- What is wrong with a duration. Parameters: i_value. Result: null: nothing. Locks, errors: none.
create or replace function largesse.doc_span_fault(i_value json) returns text
language sql immutable parallel safe
as $$
  select case when json_typeof(i_value) <> 'string' or largesse.doc_text(i_value) !~ '^(0|(0|[1-9][0-9]{0,14})(us|ms|s|m|h|d))$' then 'must be a duration with its unit, such as "15m"'
              when largesse.span_interval(largesse.doc_text(i_value)) between interval '1 microsecond' and interval '8784 hours' then null
              else 'must be more than 0 and at most 366 days' end
$$;

-- What is wrong with one member. Parameters: i_value: never null; i_rule: of a shape; i_path of the member. Result: path and what is wrong; null: nothing. Locks, errors: none.
create or replace function largesse.doc_member_fault(i_value json, i_rule jsonb, i_path text) returns text
language plpgsql immutable parallel safe
set search_path = largesse, pg_temp
as $$
declare
  v_type  text := json_typeof(i_value);
  v_fault text;
begin
  case i_rule ->> 'type'
    when 'any' then return null;
    when 'bool' then v_fault := case when v_type <> 'boolean' then 'must be true or false' end;
    when 'int' then
      if not (v_type = 'null' and (i_rule -> 'nullable')::boolean is true) then
        v_fault := largesse.doc_int_fault(i_value, (i_rule ->> 'min')::bigint, (i_rule ->> 'max')::bigint);
      end if;
    when 'time' then
      v_fault := case when v_type <> 'string' or largesse.doc_time(largesse.doc_text(i_value)) is null then 'must be an existing time such as "2026-11-29T12:00:00+08:00"' end;
    when 'span' then v_fault := largesse.doc_span_fault(i_value);
    when 'object' then
      if v_type <> 'object' then return i_path || ': must be an object'; end if;
      if i_rule ? 'shape' then
        v_fault := largesse.doc_fault(i_value, i_rule -> 'shape', i_path);
        if v_fault is not null then return v_fault; end if;
      end if;
      v_fault := case when i_rule ? 'some' and i_value::text ~ '^\s*\{\s*\}\s*$' then i_rule ->> 'some' end;
    when 'money' then
      if v_type <> 'object' then return i_path || ': must be an object'; end if;
      v_fault := largesse.doc_fault(i_value, jsonb_build_array(jsonb_build_object('name', 'amount', 'type', 'int', 'needed', true, 'min', i_rule -> 'min', 'max', 9223372036854775807),
                                                               '{"name": "currency", "type": "currency", "needed": true}'::jsonb), i_path);
      if v_fault is not null then return v_fault; end if;
      v_fault := case when (i_value ->> 'amount')::bigint > (i_rule ->> 'max')::bigint then format('is more than %s', i_rule ->> 'max') end;
    else v_fault := largesse.doc_text_fault(i_value, i_rule);
  end case;
  return i_path || ': ' || v_fault;  -- null of null
end $$;

-- What is wrong with the members that a shape knows. Parameters: i_doc, i_shape, i_path: where the document stands in a larger one, '' for the whole. Result: path and
-- what is wrong first; null: nothing. Locks, errors: none.
create or replace function largesse.doc_members_fault(i_doc json, i_shape jsonb, i_path text) returns text
language plpgsql immutable parallel safe
set search_path = largesse, pg_temp
as $$
declare
  v_rule  jsonb;
  v_value json;
  v_name  text;
  v_fault text;
begin
  if json_typeof(i_doc) <> 'object' then return case when i_path <> '' then i_path || ': ' else '' end || 'must be an object'; end if;
  for v_rule in select r from jsonb_array_elements(i_shape) r loop
    v_value := i_doc -> (v_rule ->> 'name');
    v_name := case when i_path <> '' then i_path || '.' else '' end || (v_rule ->> 'name');
    if v_value is null then
      if (v_rule -> 'needed')::boolean then return v_name || ': is missing'; end if;
    else
      v_fault := largesse.doc_member_fault(v_value, v_rule, v_name);
      if v_fault is not null then return v_fault; end if;
    end if;
  end loop;
  return null;
end $$;

-- The first member that a shape does not know, its name without anything that could end or forge a line. Parameters, result: as doc_members_fault. Locks, errors: none.
create or replace function largesse.doc_unknown_fault(i_doc json, i_shape jsonb, i_path text) returns text
language sql immutable parallel safe
set search_path = largesse, pg_temp
as $$
  select case when i_path <> '' then i_path || '.' else '' end
         || left((select string_agg(case when c ~ '^[ -~]$' then c else repeat('?', octet_length(c)) end, '' order by n) from regexp_split_to_table(k.name, '') with ordinality s(c, n)), 79)
         || ': is not known here'
    from json_object_keys(i_doc) with ordinality k(name, at)
   where not exists (select from jsonb_array_elements(i_shape) r where r ->> 'name' = k.name)
   order by k.at limit 1
$$;

-- Both. Parameters, result: as doc_members_fault. Locks, errors: none.
create or replace function largesse.doc_fault(i_doc json, i_shape jsonb, i_path text) returns text
language sql immutable parallel safe
set search_path = largesse, pg_temp
as $$ select coalesce(largesse.doc_members_fault(i_doc, i_shape, i_path), largesse.doc_unknown_fault(i_doc, i_shape, i_path)) $$;

-- What is wrong with the name a document gives itself. Parameters: i_doc: an object; i_name: the member; i_given: what the path of the call says, which the member may leave
-- out and must not differ from; null: it is needed. Result: null: nothing. Locks, errors: none.
create or replace function largesse.doc_own_code_fault(i_doc json, i_name text, i_given text) returns text
language sql immutable parallel safe
set search_path = largesse, pg_temp
as $$
  select coalesce(
    largesse.doc_members_fault(i_doc, jsonb_build_array(jsonb_build_object('name', i_name, 'type', 'code', 'needed', i_given is null)), ''),
    case when i_given !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' then format('%s: is no valid %s', i_name, i_name)
         when i_doc ->> i_name <> i_given then format('%s: differs from the %s in the path', i_name, i_name) end)
$$;
