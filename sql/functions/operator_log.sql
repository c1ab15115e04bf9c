-- SPDX-License-Identifier: Apache-2.0
-- The operator log: appending a row to the chain.

-- What a row's hash covers. Parameters: the row's columns. Result: 32 bytes. Locks, errors: none.
create or replace function largesse.log_hash(i_before bytea, i_seq bigint, i_at timestamptz, i_actor text, i_action text, i_target text, i_reason text, i_detail text)
returns bytea
language sql immutable
as $$
  select sha256(i_before || convert_to(json_build_array(i_seq::text, (extract(epoch from i_at) * 1000000)::bigint::text, i_actor, i_action, i_target, i_reason, i_detail)::text, 'UTF8'))
$$;

-- Writes down what somebody does, in the transaction that does it. Nothing else is locked after this: it is the last statement of a function that changes something.
-- Parameters: i_actor, i_action (noun.verb), i_target, i_reason (null: a program gave none), i_detail. Result: the row's number. Locks: the head of the log, as the
-- last one. Errors: none.
create or replace function largesse.log_append(i_actor text, i_action text, i_target text, i_reason text, i_detail jsonb default '{}') returns bigint
language plpgsql volatile
set search_path = largesse, pg_temp
as $$
declare
  v_head largesse.operator_log_head;
  v_at   timestamptz;
  v_hash bytea;
begin
  select * into strict v_head from largesse.operator_log_head for update;
  v_at := largesse.clock_now();
  v_hash := largesse.log_hash(v_head.hash, v_head.seq + 1, v_at, i_actor, i_action, i_target, i_reason, i_detail::text);
  insert into largesse.operator_log (seq, at, actor, action, target, reason, detail, hash_before, hash)
    values (v_head.seq + 1, v_at, i_actor, i_action, i_target, i_reason, i_detail::text, v_head.hash, v_hash);
  update largesse.operator_log_head set seq = v_head.seq + 1, hash = v_hash;
  return v_head.seq + 1;
end $$;
