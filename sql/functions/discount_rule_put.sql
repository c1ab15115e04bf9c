-- SPDX-License-Identifier: Apache-2.0
-- Creates a discount rule or a new version of it; redemptions keep the version by which they were made.
-- Parameters: i_doc: the rule as the API and event files give it, shape and types already checked by the caller: id, name, threshold, discount
-- {amount} or {percent}, maxPerOrder, exclusiveGroup, priority, rewardCode, currency, startAt, endAt; i_actor, i_reason.
-- Result: outcome created | updated | unchanged | a refusal's code; detail for people, beginning with the path at fault; version.
-- Locks: an advisory lock for all rules. Errors: 23514 for terms that the table refuses.
create or replace function largesse.discount_rule_put(i_doc jsonb, i_actor text, i_reason text default null)
returns table (outcome text, detail text, version bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := largesse.clock_now();
  v_new largesse.discount_rule;
  v_old largesse.discount_rule;
begin
  outcome := 'INVALID_REQUEST';
  v_new.id := i_doc ->> 'id'; v_new.name := i_doc ->> 'name'; v_new.threshold := i_doc ->> 'threshold';
  v_new.amount := i_doc -> 'discount' ->> 'amount'; v_new.percent := i_doc -> 'discount' ->> 'percent';
  v_new.max_per_order := i_doc ->> 'maxPerOrder'; v_new.exclusive_group := i_doc ->> 'exclusiveGroup'; v_new.priority := i_doc ->> 'priority';
  v_new.reward_code := i_doc ->> 'rewardCode'; v_new.currency := i_doc ->> 'currency';
  v_new.start_at := i_doc ->> 'startAt'; v_new.end_at := i_doc ->> 'endAt';
  if v_new.end_at <= v_new.start_at then
    detail := 'endAt: must be after startAt'; return next; return;
  end if;
  if v_new.reward_code is not null and not exists (select from largesse.reward r where r.code = v_new.reward_code and r.purpose = 'delivery') then
    detail := 'rewardCode: there is no such reward'; return next; return;
  end if;

  perform pg_advisory_xact_lock(hashtextextended('largesse.discount_rule', 0));
  select * into v_old from largesse.discount_rule r where r.id = v_new.id and r.replaced_at is null;
  if (v_old.name, v_old.threshold, v_old.amount, v_old.percent, v_old.max_per_order, v_old.exclusive_group, v_old.priority, v_old.reward_code, v_old.currency,
      v_old.start_at, v_old.end_at)
     is not distinct from (v_new.name, v_new.threshold, v_new.amount, v_new.percent, v_new.max_per_order, v_new.exclusive_group, v_new.priority, v_new.reward_code,
      v_new.currency, v_new.start_at, v_new.end_at) then
    outcome := 'unchanged'; version := v_old.version; return next; return;
  end if;
  -- Every quote looks at all of them.
  if (select count(*) from largesse.discount_rule r where r.replaced_at is null and (r.end_at is null or r.end_at > v_now) and r.id <> v_new.id) >= 1000
     and (v_new.end_at is null or v_new.end_at > v_now) then
    outcome := 'STATE_CONFLICT'; detail := 'id: there are 1000 rules that have not ended; end one first'; return next; return;
  end if;
  update largesse.discount_rule r set replaced_at = v_now where r.id = v_new.id and r.replaced_at is null;
  insert into largesse.discount_rule (id, name, threshold, amount, percent, max_per_order, exclusive_group, priority, reward_code, currency, start_at, end_at, actor, created_at)
    values (v_new.id, v_new.name, v_new.threshold, v_new.amount, v_new.percent, v_new.max_per_order, v_new.exclusive_group, v_new.priority, v_new.reward_code, v_new.currency,
            v_new.start_at, v_new.end_at, i_actor, v_now)
    returning largesse.discount_rule.version into version;
  perform largesse.log_append(i_actor, 'discount_rule.put', v_new.id, i_reason, jsonb_build_object('created', v_old.id is null, 'version', version, 'to', i_doc));
  outcome := case when v_old.id is null then 'created' else 'updated' end;
  return next;
end $$;

-- Parameters: a version of a rule. Result: the rule as answers show it. Locks, errors: none.
create or replace function largesse.discount_rule_doc(i_rule largesse.discount_rule) returns json
language sql stable
as $$
  select json_strip_nulls(json_build_object('id', i_rule.id, 'name', i_rule.name, 'threshold', i_rule.threshold,
           'discount', json_build_object('amount', i_rule.amount, 'percent', i_rule.percent),
           'maxPerOrder', i_rule.max_per_order, 'exclusiveGroup', i_rule.exclusive_group, 'priority', i_rule.priority, 'rewardCode', i_rule.reward_code,
           'currency', i_rule.currency, 'startAt', largesse.time_text(i_rule.start_at), 'endAt', largesse.time_text(i_rule.end_at)))
$$;

-- Parameters: i_id. Result: the version in force as JSON text, null if there is no such rule. Volatile, so that it sees what the same statement has put.
-- Locks, errors: none.
create or replace function largesse.discount_rule_json(i_id text) returns text
language sql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select largesse.discount_rule_doc(r)::text from largesse.discount_rule r where r.id = i_id and r.replaced_at is null
$$;

-- Parameters: i_after: an id ('' to begin), i_limit. Result: rules in force by id. Locks, errors: none.
create or replace function largesse.discount_rule_list(i_after text, i_limit int)
returns table (id text, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select r.id, largesse.discount_rule_doc(r)::text from largesse.discount_rule r
   where r.replaced_at is null and r.id > i_after collate "C" order by r.id limit i_limit
$$;
