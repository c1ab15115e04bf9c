-- SPDX-License-Identifier: Apache-2.0
-- Damages rows and looks what the audits find. A file that looks at some audits only puts a probe.findings() of its own in the place of this one.
create function probe.findings() returns text language sql as $$
  select coalesce(string_agg(d.name, ' ' order by d.name), 'none')
    from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id)
$$;
-- What the one pass over the claims takes for clean is clean: all that was found (names, in whatever form) is suspect.
create function probe.screen(i_found text) returns void language plpgsql as $$
declare v_missed text;
begin
  select string_agg(d.name, ' ') into v_missed
    from largesse.audit_definition d
   where d.source = 'audit' and i_found ~ ('\m' || d.name || '\M')
     and not exists (select from largesse.activity a, largesse.audit_screen(a.id, true) s where s.name = d.name);
  if v_missed is not null then raise exception 'the screen does not suspect %', v_missed; end if;
end $$;
-- Does the damage, looks, and undoes it.
create procedure probe.damage(i_sql text, i_expected text) language plpgsql as $$
declare v_found text;
begin
  begin
    execute i_sql;
    v_found := probe.findings();
    perform probe.screen(v_found);
    raise exception 'undo' using errcode = 'P0099';
  exception when sqlstate 'P0099' then null;
  end;
  if v_found <> i_expected then raise exception 'after "%" expected %, found %', i_sql, i_expected, v_found; end if;
end $$;
