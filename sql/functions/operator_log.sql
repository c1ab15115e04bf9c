-- SPDX-License-Identifier: Apache-2.0
-- The operator log: what goes into the chain, and how.

-- What a row's hash covers. Parameters: the row's columns. Result: 32 bytes. Locks, errors: none.
create or replace function largesse.log_hash(i_before bytea, i_seq bigint, i_at timestamptz, i_actor text, i_action text, i_target text, i_reason text, i_detail text)
returns bytea
language sql immutable
as $$
  select sha256(i_before || convert_to(json_build_array(i_seq::text, (extract(epoch from i_at) * 1000000)::bigint::text, i_actor, i_action, i_target, i_reason, i_detail)::text, 'UTF8'))
$$;

-- Writes down what somebody does, in the transaction that does it: the row is in the log when that commits, and neither is there without the other. It can be
-- called anywhere in the transaction, any number of times; nothing is locked by it before the commit.
-- Parameters: i_actor, i_action (noun.verb), i_target, i_reason (null: a program gave none), i_detail. Result: none. Locks: the head of the log, at commit, as the
-- last one (`set constraints all immediate` for a test that looks earlier). Errors: none.
create or replace function largesse.log_append(i_actor text, i_action text, i_target text, i_reason text, i_detail jsonb default '{}') returns void
language sql volatile
set search_path = largesse, pg_temp
as $$
  insert into largesse.operator_log_draft (actor, action, target, reason, detail) values (coalesce(i_actor, 'system'), i_action, i_target, i_reason, coalesce(i_detail, '{}')::text)
$$;

-- Appends a draft to the chain, at the end of its transaction. Locks: the head of the log, then nothing more. Errors: none.
create or replace function largesse.operator_log_from_draft() returns trigger
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_head largesse.operator_log_head;
  v_at   timestamptz;
  v_hash bytea;
begin
  select * into strict v_head from largesse.operator_log_head for update;
  v_at := largesse.clock_now();
  v_hash := largesse.log_hash(v_head.hash, v_head.seq + 1, v_at, new.actor, new.action, new.target, new.reason, new.detail);
  insert into largesse.operator_log (seq, at, actor, action, target, reason, detail, hash_before, hash)
    values (v_head.seq + 1, v_at, new.actor, new.action, new.target, new.reason, new.detail, v_head.hash, v_hash);
  update largesse.operator_log_head set seq = v_head.seq + 1, hash = v_hash;
  delete from largesse.operator_log_draft d where d.id = new.id;
  return null;
end $$;
