-- SPDX-License-Identifier: Apache-2.0
-- What is wrong with an eligibility: it has to be a jsonpath predicate over {user, progress, request}, as `$.user.level >= 5 && $.request.channel == "APP"`.
-- A predicate gives exactly one of true, false and unknown for whatever document; a path gives what it finds, which for an empty document is nothing.
-- Parameters: i_eligibility. Result: null: nothing; else for people. Locks: none. Errors: none.
create or replace function largesse.eligibility_fault(i_eligibility text) returns text
language plpgsql stable
set search_path = largesse, pg_temp
as $$
declare
  v_path   jsonpath;
  v_bare   text;
  v_member text;
  v_format text;
begin
  if i_eligibility is null then return null; end if;
  begin
    v_path := i_eligibility::jsonpath;
  exception when others then
    return 'is no jsonpath: ' || sqlerrm;
  end;
  -- As PostgreSQL writes it, members are quoted, and a quote within a text is escaped.
  select m[1] into v_member from regexp_matches(v_path::text, '\$\."((?:[^"\\]|\\.)*)"', 'g') m where m[1] not in ('user', 'progress', 'request') limit 1;
  if v_member is not null then
    return format('sees user, progress and request; there is no $.%s', v_member);
  end if;
  v_bare := regexp_replace(v_path::text, '"(?:[^"\\]|\\.)*"', '""', 'g');
  if v_bare like '%$""%' then
    return 'must not use variables';
  end if;
  -- The format of a date or time is read with the first value that there is for it, and what is wrong with it is an error that "silent" does not cover.
  for v_format in select m[1] from regexp_matches(v_path::text, '\.datetime\(("(?:[^"\\]|\\.)*")\)', 'g') m loop
    begin
      perform jsonb_path_query_tz('"1"', ('$.datetime(' || v_format || ')')::jsonpath, '{}', true);
    exception when others then
      return format('.datetime(%s): %s', v_format, sqlerrm);
    end;
  end loop;
  begin
    if v_bare not in ('true', 'false', 'null') and (
         select count(*) = 1 and bool_and(jsonb_typeof(v) in ('boolean', 'null')) from jsonb_path_query('{}', v_path, '{}', true) v) then
      return null;
    end if;
  exception when others then
    return 'cannot be evaluated: ' || sqlerrm;
  end;
  return 'must be a predicate, such as $.user.level >= 5; this path gives a value instead of true or false';
end $$;
