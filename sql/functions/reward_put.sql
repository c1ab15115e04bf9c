-- SPDX-License-Identifier: Apache-2.0
-- Creates a reward or a new version of it; claims keep the version under which they were accepted.
-- Parameters: i_code, i_provider, i_amount and i_currency (both or neither), i_params; i_actor, i_reason. Result: 'created', 'updated' or 'unchanged'.
-- Locks: an advisory lock on the code. Errors: 23514 for terms that the table refuses.
create or replace function largesse.reward_put(i_code text, i_provider text, i_amount bigint, i_currency text, i_params jsonb,
  i_actor text default 'system', i_reason text default null) returns text
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_old largesse.reward;
begin
  perform pg_advisory_xact_lock(hashtextextended('largesse.reward.' || i_code, 0));
  select * into v_old from largesse.reward r where r.code = i_code and r.purpose = 'delivery' order by r.id desc limit 1;
  if found and (v_old.provider, v_old.amount, v_old.currency, v_old.params)
       is not distinct from (i_provider, i_amount, i_currency, coalesce(i_params, '{}')) then
    return 'unchanged';
  end if;
  insert into largesse.reward (code, provider, amount, currency, params, created_at)
    values (i_code, i_provider, i_amount, i_currency, coalesce(i_params, '{}'), largesse.clock_now());
  -- Activities that are not running yet take the new terms; running ones keep theirs.
  update largesse.activity a set reward_id = (select max(r.id) from largesse.reward r where r.code = i_code and r.purpose = 'delivery'), changed_at = largesse.clock_now()
   where a.status in ('draft', 'published') and a.start_at > largesse.clock_now()
     and a.reward_id in (select r.id from largesse.reward r where r.code = i_code and r.purpose = 'delivery');
  perform largesse.log_append(i_actor, 'reward.put', i_code, i_reason, json_build_object('created', v_old.id is null, 'to', largesse.reward_json(i_code)::json)::jsonb);
  return case when v_old.id is null then 'created' else 'updated' end;
end $$;

-- Parameters: i_code. Result: the newest version as JSON text, null if there is none. Volatile, so that it sees what the same statement has put. Locks, errors: none.
create or replace function largesse.reward_json(i_code text) returns text
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select json_strip_nulls(json_build_object('code', r.code, 'provider', r.provider,
           'amount', case when r.amount is not null then json_build_object('amount', r.amount, 'currency', r.currency) end,
           'params', r.params))::text
    from largesse.reward r where r.code = i_code and r.purpose = 'delivery' order by r.id desc limit 1
$$;
