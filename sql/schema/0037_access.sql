-- SPDX-License-Identifier: Apache-2.0
-- Who may do what: keys of services and people, sessions of the console; and acts that are written down when their transaction commits.

-- A key itself is shown once, to who makes it. It is 256 random bits, so its plain SHA-256 can be kept: nobody can guess what belongs to it.
create table largesse.api_key (
  id            bigint generated always as identity primary key,
  name          text not null check (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' and name not in ('anonymous', 'system')),
  prefix        text not null,                     -- its first characters, by which people know it again
  hash          bytea not null unique check (length(hash) = 32),
  scopes        text[] not null check (cardinality(scopes) > 0 and scopes <@ array['read', 'claims', 'activities', 'review', 'admin']),
  created_at    timestamptz not null,
  created_by    text not null,
  expires_at    timestamptz,                       -- null: never
  used_at       timestamptz,                       -- about; null: never
  revoked_at    timestamptz,
  revoked_by    text,
  revoke_reason text
);
create unique index api_key_in_force on largesse.api_key (name) where revoked_at is null;

-- Counts changes of keys, so that daemons see with a glance whether what they know still holds. Whoever changes keys locks it.
create table largesse.api_key_version (
  one     boolean primary key default true check (one),
  version bigint not null
);
insert into largesse.api_key_version (version) values (1);

-- A person who has signed in to the console with a key. The secret in the cookie is kept as its SHA-256.
create table largesse.console_session (
  hash       bytea primary key check (length(hash) = 32),
  key_id     bigint not null references largesse.api_key (id) on delete cascade,
  created_at timestamptz not null,
  seen_at    timestamptz not null,                 -- about: written once a minute
  expires_at timestamptz not null
);
create index console_session_of_key on largesse.console_session (key_id, created_at);
create index console_session_by_end on largesse.console_session (expires_at);

-- Acts of a transaction that has not committed yet. They go into the log at the very end of it, so that the head of the log is the last lock of whatever does
-- something and is held while it commits, not while it works.
create table largesse.operator_log_draft (
  id     bigint generated always as identity primary key,
  actor  text not null,
  action text not null,
  target text not null,
  reason text,
  detail text not null
);
create index operator_log_by_time on largesse.operator_log (at);
create index operator_log_by_action on largesse.operator_log (action, seq);

create function largesse.operator_log_from_draft() returns trigger language plpgsql as $$ begin return null; end $$;  -- operator_log.sql has it
create constraint trigger into_the_log after insert on largesse.operator_log_draft
  deferrable initially deferred for each row execute function largesse.operator_log_from_draft();

-- Made anew by their files: what they do is written down, with who did it and why.
drop function if exists largesse.log_append(text, text, text, text, jsonb);
drop function if exists largesse.activity_put(jsonb, text, bigint);
drop function if exists largesse.reward_put(text, text, bigint, text, jsonb);
drop function if exists largesse.event_put(text, text, text);
drop function if exists largesse.discount_rule_put(jsonb, text);
drop function if exists largesse.stock_adjust(text, text, bigint, text, text);
drop function if exists largesse.numbers_add(text, bigint[], bigint, bigint, text);
drop function if exists largesse.numbers_ensure(text, bigint, bigint, text);
drop function if exists largesse.qualification_import(text, bigint[], text[], text[], text[]);
drop function if exists largesse.points_grant(bigint, text, bigint, text, text);
drop function if exists largesse.blocked_user_delete(text, bigint);
drop function if exists largesse.points_grant_many(int[], bigint[], text[], bigint[], text[], text);
drop function if exists largesse.event_out_retry(bigint[]);
drop function if exists largesse.event_out_discard(bigint[]);
