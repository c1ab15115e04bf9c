-- SPDX-License-Identifier: Apache-2.0
-- Damages rows and looks what the audits find. A file that looks at some audits only puts a probe.findings() of its own in the place of this one.
create function probe.findings() returns text language sql as $$
  select coalesce(string_agg(d.name, ' ' order by d.name), 'none')
    from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id)
$$;
-- Does the damage, looks, and undoes it.
create procedure probe.damage(i_sql text, i_expected text) language plpgsql as $$
declare v_found text;
begin
  begin
    execute i_sql;
    v_found := probe.findings();
    raise exception 'undo' using errcode = 'P0099';
  exception when sqlstate 'P0099' then null;
  end;
  if v_found <> i_expected then raise exception 'after "%" expected %, found %', i_sql, i_expected, v_found; end if;
end $$;
