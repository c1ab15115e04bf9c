-- SPDX-License-Identifier: Apache-2.0
-- Reading claims. Parameters and results as named; each result row is a claim as JSON text with its key for paging. Locks, errors: none.

-- One claim by its id.
create or replace function largesse.claim_get(i_activity_id bigint, i_claim_id bigint) returns text
language sql stable security definer
set search_path = largesse, pg_temp
as $$
  select largesse.claim_json(c, a.code) from largesse.claim c join largesse.activity a on a.id = c.activity_id
   where c.activity_id = i_activity_id and c.id = i_claim_id
$$;

-- One claim by the click that made it.
create or replace function largesse.claim_get_by_biz(i_activity_code text, i_biz_id text) returns text
language sql stable security definer
set search_path = largesse, pg_temp
as $$
  select largesse.claim_json(c, a.code) from largesse.activity a join largesse.claim c on c.activity_id = a.id
   where a.code = i_activity_code and c.biz_id = i_biz_id
$$;

-- A user's claims, oldest first, after a claim number.
create or replace function largesse.claim_list_by_user(i_user_id bigint, i_after bigint, i_limit int)
returns table (claim_id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp
as $$
  select c.id, largesse.claim_json(c, a.code) from largesse.claim c join largesse.activity a on a.id = c.activity_id
   where c.user_id = i_user_id and c.id > i_after order by c.id limit i_limit
$$;

-- An activity's claims, optionally of one status, oldest first, after a claim number.
create or replace function largesse.claim_list_by_activity(i_activity_code text, i_status text, i_after bigint, i_limit int)
returns table (claim_id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp
as $$
  select c.id, largesse.claim_json(c, a.code) from largesse.activity a join largesse.claim c on c.activity_id = a.id
   where a.code = i_activity_code and c.id > i_after and (i_status is null or c.status = i_status) order by c.id limit i_limit
$$;
