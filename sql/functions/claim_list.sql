-- SPDX-License-Identifier: Apache-2.0
-- Reading claims. Parameters and results as named; each result row is a claim as JSON text with its key for paging. Locks, errors: none.

-- One claim by its id.
create or replace function largesse.claim_get(i_activity_id bigint, i_claim_id bigint) returns text
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select coalesce(
    (select largesse.claim_json(c, a.code) from largesse.claim c join largesse.activity a on a.id = c.activity_id
      where c.activity_id = i_activity_id and c.id = i_claim_id),
    (select largesse.claim_json(k.claim, a.code)  -- of a month that is detached
       from largesse.activity a cross join lateral (select largesse.archive_claim(a.id, i_claim_id, null) as claim offset 0) k
      where a.id = i_activity_id and largesse.archive_is_away(a.id) and (k.claim).id is not null))
$$;

-- One claim by the click that made it.
create or replace function largesse.claim_get_by_biz(i_activity_code text, i_biz_id text) returns text
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select coalesce(
    (select largesse.claim_json(c, a.code) from largesse.activity a join largesse.claim c on c.activity_id = a.id
      where a.code = i_activity_code and c.biz_id = i_biz_id),
    (select largesse.claim_json(k.claim, a.code)
       from largesse.activity a cross join lateral (select largesse.archive_claim(a.id, null, i_biz_id) as claim offset 0) k
      where a.code = i_activity_code and largesse.archive_is_away(a.id) and (k.claim).id is not null))
$$;

-- A user's claims, oldest first, after a claim number.
create or replace function largesse.claim_list_by_user(i_user_id bigint, i_after bigint, i_limit int)
returns table (claim_id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select c.id, largesse.claim_json(c, a.code) from largesse.claim c join largesse.activity a on a.id = c.activity_id
   where c.user_id = i_user_id and c.id > i_after order by c.id limit i_limit
$$;

-- An activity's claims, optionally of one status, oldest first, after a claim number; also of a month that is detached.
create or replace function largesse.claim_list_by_activity(i_activity_code text, i_status text, i_after bigint, i_limit int)
returns table (claim_id bigint, doc text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_id bigint := (select a.id from largesse.activity a where a.code = i_activity_code);
begin
  if largesse.archive_is_away(v_id) then
    return query
      select c.id, largesse.claim_json(c, i_activity_code) from largesse.archive_claims(v_id) c
       where c.id > i_after and (i_status is null or c.status = i_status) order by c.id limit i_limit;
    return;
  end if;
  return query
    select c.id, largesse.claim_json(c, i_activity_code) from largesse.claim c
     where c.activity_id = v_id and c.id > i_after and (i_status is null or c.status = i_status) order by c.id limit i_limit;
end $$;
