-- SPDX-License-Identifier: Apache-2.0
-- What people do about findings: repairs that are offered and previewed, and explanations. operation_step does them, item by item.
-- A repair is a function repair_<name>(activity, claim, subject, apply) that an audit names when it registers. It never goes by the figures of the finding: it locks what it is
-- about, in the one order, looks again, and sets what follows from the other rows. It changes nothing that a person has to decide, and nothing that users were promised.

-- What a repair does, in words. Parameters: i_name, as an audit registers it. Result: text; null: there is no such repair. Locks, errors: none.
create or replace function largesse.repair_text(i_name text) returns text
language sql immutable
as $$
  select case i_name
    when 'stock' then 'sets what is left and what is taken by the claims that hold stock; who waits moves up'
    when 'stock_total' then 'sets the total back to the one that was published; what is left is not touched'
    when 'usage' then 'sets the user''s counter to what the user''s claims hold'
    when 'event_usage' then 'sets the user''s counter of the event to what the user''s claims hold in its sessions'
    when 'group_member' then 'sets the user''s place in the group by the user''s live claims'
    when 'qualification' then 'gives the qualification to the user''s live claim, or sets it unused'
    when 'number' then 'gives the number to the claim that holds it, or sets it available'
    when 'waiting' then 'puts the waiting claim back into its place in the list, takes out who does not wait, and counts again'
    when 'points_balance' then 'sets the balance to the sum of its ledger'
    when 'points_return' then 'returns the points of a claim that came to nothing, once'
    when 'dead_letter' then 'opens the dead letter that is missing, or closes one that nobody waits for'
    when 'claim_due' then 'makes the claim due now, so that its provider is asked; or takes a due time from what is finished'
    when 'claims_due' then 'makes the claims due now, so that their provider is asked'
    when 'reversal' then 'takes the delivery back at its provider, as is done with every success that is heard too late' end
$$;

-- Locks what all changes of an activity's claims wait for. Parameters: i_activity_id; i_apply: false: nothing. Result: none. Locks: the activity, its stock rows.
-- Errors: 40P01 (repeat).
create or replace function largesse.repair_lock(i_activity_id bigint, i_apply boolean) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
begin
  if not i_apply then return; end if;
  perform 1 from largesse.activity a where a.id = i_activity_id for no key update;
  perform 1 from largesse.stock s where s.activity_id = i_activity_id order by s.segment for update;
end $$;

-- What becomes of one finding, and does it. Parameters: i_kind: repair or explain; i_key; i_apply: false: only says what would become of it.
-- Result: one row: what is there, what there would be or is then, and one of operation_outcomes. Locks: of a repair its activity, then as the repair. Errors: as the repair.
create or replace function largesse.finding_try(i_kind text, i_key text, i_apply boolean)
returns table (before text, after text, outcome text)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_finding largesse.finding;
  v_repair  text;
begin
  select * into v_finding from largesse.finding f where f.key = i_key;
  if not found then
    return query select null::text, null::text, 'not_found'; return;
  elsif v_finding.state = 'gone' then
    return query select null::text, null::text, 'gone'; return;
  elsif i_kind = 'explain' then
    return query select v_finding.actual, 'explained'::text, 'explained'::text; return;
  end if;
  select d.repair into v_repair from largesse.audit_definition d where d.name = v_finding.kind;
  if v_repair is null then
    return query select v_finding.actual, 'a person has to: see the next step'::text, 'not_repairable'::text; return;
  end if;
  if i_apply then perform 1 from largesse.activity a where a.id = v_finding.activity_id for no key update; end if;
  if largesse.archive_is_away(v_finding.activity_id) then
    return query select v_finding.actual, largesse.archive_note(v_finding.activity_id), 'not_repairable'::text; return;
  end if;
  begin
    return query execute format('select r.before, r.after, r.outcome from largesse.%I($1, $2, $3, $4) r', 'repair_' || v_repair)
      using v_finding.activity_id, v_finding.claim_id, substr(i_key, length(format('%s:%s:', v_finding.kind, v_finding.activity_id)) + 1), i_apply;
    if not found then return query select v_finding.actual, null::text, 'not_repairable'::text; end if;
  exception when integrity_constraint_violation then  -- other rows are wrong too: nothing was changed
    return query select v_finding.actual, sqlerrm, 'not_repairable'::text;
  end;
end $$;

-- Does the items that are numbered. Each repair has a transaction of its own, so that none waits for what the one before it has locked out of order.
-- Parameters: i_op (locked); i_ns ascending, and the findings (parallel arrays). Result: how many came to what. Locks: as the repair; then findings, items, the operator log.
-- Errors: 40P01, 40001 (repeat).
create or replace function largesse.finding_do(i_op largesse.operation, i_ns bigint[], i_keys text[]) returns jsonb
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off set plan_cache_mode = force_custom_plan
as $$
declare
  v_now    timestamptz := largesse.clock_now();
  v_counts jsonb;
begin
  if i_op.kind = 'explain' then perform 1 from largesse.finding f where f.key = any (i_keys) order by f.key for update; end if;
  with t as materialized (  -- each once
    select r.n, f.before, f.after, f.outcome from unnest(i_ns, i_keys) as r(n, key) cross join lateral largesse.finding_try(i_op.kind, r.key, true) f
  )
  update largesse.operation_item i set at = v_now, before = t.before, after = t.after, outcome = t.outcome
    from t where i.operation_id = i_op.id and i.n = t.n;
  -- What is repaired is gone now; should it be seen again, it is opened again. What is explained stays gone while it says the same.
  update largesse.finding f
     set state = 'gone', gone_at = v_now,
         resolved_at = case i.outcome when 'explained' then v_now end, resolved_by = case i.outcome when 'explained' then i_op.actor end,
         resolve_reason = case i.outcome when 'explained' then i_op.reason end
    from largesse.operation_item i
   where i.operation_id = i_op.id and i.n = any (i_ns) and i.outcome in ('repaired', 'already_right', 'explained') and f.key = i.finding_key and f.state <> 'gone';
  perform largesse.log_append(i_op.actor, 'finding.' || i.outcome, i.finding_key, i_op.reason,
                              jsonb_strip_nulls(jsonb_build_object('operationId', i_op.id::text, 'before', i.before, 'after', i.after, 'outcome', i.outcome)))
     from (select * from largesse.operation_item i
            where i.operation_id = i_op.id and i.n = any (i_ns) and i.outcome in ('repaired', 'explained') order by i.n) i;
  select jsonb_object_agg(o.outcome, o.items) into v_counts
    from (select i.outcome, count(*) as items from largesse.operation_item i where i.operation_id = i_op.id and i.n = any (i_ns) group by 1) o;
  return v_counts;
end $$;
