-- SPDX-License-Identifier: Apache-2.0
-- Keys of services and people. What is kept of a key is its SHA-256; whoever makes it sees it once.

-- Makes a key. Parameters: i_name (one key in force has it), i_prefix and i_hash of the key, i_scopes (read, claims, activities, review, admin), i_expires_at (null:
-- never), i_actor, i_reason (may be null). Result: outcome 'ok', 'INVALID_REQUEST' or 'STATE_CONFLICT' (the name is taken, or there are 1000 keys); detail.
-- Locks: the version of keys. Errors: none.
create or replace function largesse.key_add(
  i_name text, i_prefix text, i_hash bytea, i_scopes text[], i_expires_at timestamptz, i_actor text, i_reason text)
returns table (outcome text, detail text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  outcome := 'INVALID_REQUEST';
  detail := case
    when i_name !~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' or i_name in ('anonymous', 'system') then 'name: must be of letters, digits, dots, dashes and underscores, at most 64'
    when cardinality(i_scopes) = 0 or not i_scopes <@ array['read', 'claims', 'activities', 'review', 'admin'] then 'scope: must be some of read, claims, activities, review and admin'
    when i_expires_at <= v_now then 'expires: must lie in the future' end;
  if detail is not null then return next; return; end if;
  outcome := 'STATE_CONFLICT';
  perform 1 from largesse.api_key_version for update;
  if exists (select from largesse.api_key k where k.name = i_name and k.revoked_at is null) then
    detail := 'there is a key of this name; revoke it first, or choose another name'; return next; return;
  end if;
  if (select count(*) from largesse.api_key k where k.revoked_at is null) >= 1000 then
    detail := 'there are 1000 keys; revoke those that are not used'; return next; return;
  end if;
  insert into largesse.api_key (name, prefix, hash, scopes, created_at, created_by, expires_at)
    values (i_name, i_prefix, i_hash, (select array_agg(distinct s order by s) from unnest(i_scopes) s), v_now, i_actor, i_expires_at);
  update largesse.api_key_version v set version = v.version + 1;
  perform largesse.log_append(i_actor, 'key.add', i_name, i_reason,
    jsonb_strip_nulls(jsonb_build_object('scopes', to_jsonb(i_scopes), 'prefix', i_prefix, 'expiresAt', largesse.time_text(i_expires_at))));
  outcome := 'ok'; return next;
end $$;

-- Ends a key, and every session that was begun with it. Parameters: i_name, i_actor, i_reason. Result: whether there was such a key in force.
-- Locks: the version of keys. Errors: none.
create or replace function largesse.key_revoke(i_name text, i_actor text, i_reason text) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_id bigint;
begin
  perform 1 from largesse.api_key_version for update;
  update largesse.api_key k set revoked_at = largesse.clock_now(), revoked_by = i_actor, revoke_reason = i_reason
   where k.name = i_name and k.revoked_at is null returning k.id into v_id;
  if not found then return false; end if;
  delete from largesse.console_session s where s.key_id = v_id;
  update largesse.api_key_version v set version = v.version + 1;
  perform largesse.log_append(i_actor, 'key.revoke', i_name, i_reason);
  return true;
end $$;

-- Keys by name, those that have ended too if asked for. Parameters: i_is_all; i_after: the last name seen ('' to begin); i_limit. Result: name and JSON text.
-- Locks, errors: none.
create or replace function largesse.key_list(i_is_all boolean, i_after text, i_limit int)
returns table (place text, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select l.place, l.doc
    from (select k.name || ' ' || lpad(k.id::text, 19, '0') as place, json_strip_nulls(json_build_object(
             'name', k.name, 'prefix', k.prefix, 'scopes', array_to_string(k.scopes, ','),
             'state', case when k.revoked_at is not null then 'revoked' when k.expires_at <= largesse.clock_now() then 'expired' else 'valid' end,
             'createdAt', largesse.time_text(k.created_at), 'createdBy', k.created_by, 'expiresAt', largesse.time_text(k.expires_at),
             'usedAt', largesse.time_text(k.used_at), 'revokedAt', largesse.time_text(k.revoked_at), 'revokedBy', k.revoked_by, 'revokeReason', k.revoke_reason))::text as doc
            from largesse.api_key k where i_is_all or k.revoked_at is null) l
   where l.place collate "C" > i_after collate "C"
   order by l.place collate "C" limit i_limit
$$;

-- What a daemon must know of keys, said again only when it has changed. Parameters: i_mark: what the last answer began with ('' to begin); i_used: keys that were used
-- since. Result: a first row with the mark alone; where that is another one, a row for each key in force: id, hash, name, scopes separated by commas, and in how
-- many microseconds it expires (null: never). Locks: the rows of used keys, ascending, those that are free. Errors: none.
create or replace function largesse.key_poll(i_mark text, i_used bigint[])
returns table (mark text, id bigint, hash bytea, name text, scopes text, expires_us bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := largesse.clock_now();
begin
  if cardinality(i_used) > 0 then
    with due as materialized (
      select k.id from largesse.api_key k
       where k.id = any (i_used) and (k.used_at is null or k.used_at < v_now - interval '1 minute') order by k.id for no key update skip locked
    ) update largesse.api_key k set used_at = v_now from due where k.id = due.id;
  end if;
  -- Keys that expire change what holds as well.
  select v.version || '.' || (select count(*) from largesse.api_key k where k.revoked_at is null and k.expires_at <= v_now)
    into mark from largesse.api_key_version v;
  return next;
  if mark = i_mark then return; end if;
  return query
    select mark, k.id, k.hash, k.name, array_to_string(k.scopes, ','), (extract(epoch from k.expires_at - v_now) * 1000000)::bigint
      from largesse.api_key k where k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now);
end $$;
