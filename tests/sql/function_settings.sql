-- SPDX-License-Identifier: Apache-2.0
-- What daemons call is short and asked for often, while the planner takes young tables for large ones: compiling its plan would take longer than running it, each time.
do $$
declare
  v_names text := (select string_agg(p.oid::regprocedure::text, ', ' order by p.proname) from pg_proc p
                    where p.pronamespace = 'largesse'::regnamespace and p.prosecdef and p.prorettype <> 'trigger'::regtype
                      and not (coalesce(p.proconfig, '{}') @> '{jit=off}' and exists (select from unnest(p.proconfig) c where c like 'search_path=%')));
begin
  if v_names is not null then raise exception 'without jit = off or a search path of their own: %', v_names; end if;
end $$;
