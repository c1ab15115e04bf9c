-- SPDX-License-Identifier: Apache-2.0
-- Sessions of the console: 12 hours at most, or one without a call. All reconcilers look them up here, so ending one holds at once.

-- Signs somebody in. Parameters: i_key_hash of the key that was shown, i_session_hash of a new secret; i_old_hash: of the secret
-- that the browser had, whose session ends (null: none). Result: outcome 'ok', 'UNAUTHENTICATED' (no such key in
-- force) or 'FORBIDDEN' (it has no role in the console); name, scopes separated by commas, when the session ends. Of a key's sessions the 20 newest are kept.
-- Locks: the key, shared; sessions that end. Errors: none.
create or replace function largesse.session_begin(i_key_hash bytea, i_session_hash bytea, i_old_hash bytea)
returns table (outcome text, name text, scopes text, expires_at timestamptz)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := largesse.clock_now();
  v_key largesse.api_key;
begin
  -- A key that is being revoked is waited for, so that no session is left behind.
  select * into v_key from largesse.api_key k where k.hash = i_key_hash and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now) for share;
  outcome := case when not found then 'UNAUTHENTICATED' when not v_key.scopes && array['read', 'activities', 'review', 'admin'] then 'FORBIDDEN' else 'ok' end;
  name := v_key.name; scopes := array_to_string(v_key.scopes, ',');
  if outcome <> 'ok' then return next; return; end if;
  delete from largesse.console_session s where s.hash = i_old_hash;
  expires_at := least(v_now + interval '12 hours', v_key.expires_at);
  delete from largesse.console_session s
   where s.hash in (select o.hash from largesse.console_session o where o.expires_at <= v_now order by o.expires_at limit 100 for update skip locked);
  delete from largesse.console_session s
   where s.hash in (select o.hash from largesse.console_session o where o.key_id = v_key.id order by o.created_at desc offset 19 for update skip locked);
  insert into largesse.console_session (hash, key_id, created_at, seen_at, expires_at) values (i_session_hash, v_key.id, v_now, v_now, expires_at);
  perform largesse.log_append(v_key.name, 'session.sign_in', v_key.name, null);
  return next;
end $$;

-- Who a session belongs to; it is seen again by that. Parameters: i_hash. Result: name, scopes separated by commas, when it ends; no row: there is no such session
-- any more. Locks: its row, once a minute. Errors: none.
create or replace function largesse.session_check(i_hash bytea)
returns table (name text, scopes text, expires_at timestamptz)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now     timestamptz := largesse.clock_now();
  v_session largesse.console_session;
begin
  select * into v_session from largesse.console_session s where s.hash = i_hash and s.expires_at > v_now and s.seen_at > v_now - interval '1 hour';
  if not found then return; end if;
  if v_session.seen_at < v_now - interval '1 minute' then
    update largesse.console_session s set seen_at = v_now where s.hash = i_hash;
  end if;
  return query select k.name, array_to_string(k.scopes, ','), v_session.expires_at
    from largesse.api_key k where k.id = v_session.key_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > v_now);
end $$;

-- Signs out. Parameters: i_hash. Result: whether there was such a session. Locks: its row. Errors: none.
create or replace function largesse.session_end(i_hash bytea) returns boolean
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  with gone as (delete from largesse.console_session s where s.hash = i_hash returning 1) select exists (select from gone)
$$;
