-- SPDX-License-Identifier: Apache-2.0
-- What people do about dead letters, delivered claims and findings: what is meant, what would become of it, and the beginning of an operation.
-- operation_step does the work.

-- What each kind can come to, in the order in which answers tell it.
-- Parameters: i_kind. Result: names of outcomes. Locks: none. Errors: none.
create or replace function largesse.operation_outcomes(i_kind text) returns text[]
language sql immutable
as $$
  select case i_kind
    when 'retry' then array['retried', 'already_done', 'not_retryable', 'not_found']
    when 'refund' then array['refunded', 'reversing', 'already_done', 'not_refundable', 'not_reversible', 'not_found']
    when 'resolve' then array['resolved', 'already_done', 'proof_needed', 'not_found']
    when 'roll_back' then array['rolled_back', 'reversing', 'already_done', 'not_delivered', 'coupon_used', 'not_reversible', 'not_found']
    when 'repair' then array['repaired', 'already_right', 'not_repairable', 'gone', 'not_found']
    when 'explain' then array['explained', 'gone', 'not_found'] end
$$;

-- What becomes of one item; the preview and the step ask the same.
-- A claim whose step is `deliver` was certainly never delivered, and one whose step is `charge` never charged: whatever leaves that open settles as an inquiry.
-- Parameters: i_kind; the letter and the claim (null rows where there is none); i_can_reverse: the claim's provider can take a delivery back; i_can_give: a claim that was
-- paid too late can have what was bought; i_is_proved: of a resolve: that it was done is proved, or not said. Result: one of operation_outcomes. Locks: none. Errors: none.
create or replace function largesse.operation_verdict(
  i_kind text, i_letter largesse.dead_letter, i_claim largesse.claim, i_can_reverse boolean, i_can_give boolean, i_is_proved boolean) returns text
language sql stable
as $$
  select case
    when i_kind = 'roll_back' then case
      when i_claim.id is null then 'not_found'
      when i_claim.status = 'rolled_back' then 'already_done'
      when i_claim.status <> 'succeeded' then 'not_delivered'
      when i_claim.reversal is null and largesse.coupon_is_used(i_claim.activity_id, i_claim.id) then 'coupon_used'  -- its order is released first
      when i_claim.reward_id is null then 'rolled_back'
      when i_claim.reversal is not null and i_claim.review_since is null then 'already_done'  -- it is under way
      when not i_can_reverse then 'not_reversible'
      else 'reversing' end
    when i_letter.id is null then 'not_found'
    when i_letter.closed_at is not null then 'already_done'
    when i_claim.id is null then case i_kind when 'resolve' then 'resolved' when 'retry' then 'not_retryable' else 'not_refundable' end
    when i_kind = 'resolve' and i_claim.review_since is null and i_claim.status <> 'issuing' then 'resolved'  -- only the letter is left
    when i_claim.review_since is null then 'already_done'
    when i_kind = 'retry' then case when i_claim.review_cause = 'late_payment' and not i_can_give then 'not_retryable' else 'retried' end
    when i_kind = 'resolve' then case when i_is_proved then 'resolved' else 'proof_needed' end
    when largesse.claim_waits_for_money(i_claim) then case
      when i_claim.payment = 'done' then 'reversing'             -- the money goes back, perhaps once more
      when i_claim.status = 'held' then case i_claim.step when 'charge' then 'refunded' else 'reversing' end
      else 'not_refundable' end                                  -- nobody knows whether there is anything to give back
    when i_claim.status = 'issuing' and i_claim.step = 'deliver' then 'refunded'
    when not i_can_reverse then 'not_reversible'
    else 'reversing' end
$$;

-- Whether it is a payment or a refund that a claim waits for a person about. Parameters: its row. Result: the answer. Locks, errors: none.
create or replace function largesse.claim_waits_for_money(i_claim largesse.claim) returns boolean
language sql immutable
as $$
  select i_claim.review_since is not null
         and (i_claim.review_cause = 'late_payment' or coalesce(i_claim.step in ('charge', 'inquire_charge', 'refund', 'inquire_refund'), false))
$$;

-- Whether a claim that was paid too late can have what was bought: true for what was not paid too late. Parameters: its row. Result: the answer. Locks, errors: none.
create or replace function largesse.claim_can_be_given(i_claim largesse.claim) returns boolean
language sql stable
as $$
  select case when i_claim.review_cause = 'late_payment' then largesse.claim_reallocation_refusal(i_claim) is null else true end
$$;

-- Whether the provider of a reward can take a delivery back, as its fulfillers have told. Parameters: i_reward_id (null: no reward).
-- Result: false too where no fulfiller has told yet. Locks: none. Errors: none.
create or replace function largesse.reward_can_be_reversed(i_reward_id int) returns boolean
language sql stable
as $$
  select coalesce((select p.can_reverse from largesse.reward w join largesse.provider_state p on p.provider = w.provider where w.id = i_reward_id), false)
$$;

-- Is it findings that a kind of operation is about, and not letters and claims? Parameters: i_kind. Result: the answer. Locks, errors: none.
create or replace function largesse.operation_is_about_findings(i_kind text) returns boolean
language sql immutable
as $$ select i_kind in ('repair', 'explain') $$;

-- What is meant: the letters and claims that are named, or the open letters that a filter selects; or findings. A claim stands for its newest letter.
-- Parameters: i_kind; i_letters, i_activity_ids and i_claim_ids (parallel): all null: by filter; i_provider, i_cause, i_activity_code, i_fingerprint (null: any).
-- Of findings: i_keys; null: by filter: i_provider, i_activity_code, i_state, i_finding_kind, i_severity, i_source, as finding_select.
-- Result: a row per item, each once, in the order in which rows are locked; a letter or finding that does not exist has no claim. Locks: none. Errors: none.
create or replace function largesse.operation_targets(
  i_kind text, i_letters bigint[], i_activity_ids bigint[], i_claim_ids bigint[],
  i_provider text, i_cause text, i_activity_code text, i_fingerprint text,
  i_keys text[], i_state text, i_finding_kind text, i_severity text, i_source text)
returns table (n bigint, letter_id bigint, activity_id bigint, claim_id bigint, finding_key text)
language plpgsql stable
set search_path = largesse, pg_temp set jit = off
as $$
begin
  if largesse.operation_is_about_findings(i_kind) then
    return query select row_number() over (order by t.a, t.c, t.k), null::bigint, t.a, t.c, t.k
      from (select f.activity_id as a, f.claim_id as c, r.key as k from (select distinct k.key from unnest(i_keys) as k(key)) r left join largesse.finding f on f.key = r.key
            union all
            select f.activity_id, f.claim_id, f.key from largesse.finding_select(i_state, i_finding_kind, i_severity, i_activity_code, i_provider, i_source) f
             where i_keys is null) t;
  elsif i_letters is null and i_activity_ids is null and i_kind <> 'roll_back' then  -- no letter comes twice, and the index of open letters has them in order
    return query execute 'select row_number() over (order by d.activity_id, d.claim_id, d.id), d.id, d.activity_id, d.claim_id, null::text from largesse.dead_letter d
      where d.closed_at is null' || largesse.dead_letter_conditions(i_provider, i_cause, i_activity_code, i_fingerprint);
  else
    return query select row_number() over (order by t.a, t.c, t.l), t.l, t.a, t.c, null::text
      from (select r.l, d.activity_id as a, d.claim_id as c from unnest(i_letters) as r(l) left join largesse.dead_letter d on d.id = r.l
            union
            select (select max(d.id) from largesse.dead_letter d where d.activity_id = r.a and d.claim_id = r.c and i_kind <> 'roll_back'), r.a, r.c
              from unnest(i_activity_ids, i_claim_ids) as r(a, c)) t;
  end if;
end $$;

-- What an operation about letters or claims would come to: counts of all in one pass, and the first items. Of a hundred thousand letters no list is made.
-- Parameters: as operation_preview. Result: a row per outcome with its count, and without count a row per item, in order. Locks: none. Errors: none.
create or replace function largesse.operation_preview_letters(
  i_kind text, i_letters bigint[], i_activity_ids bigint[], i_claim_ids bigint[],
  i_provider text, i_cause text, i_activity_code text, i_fingerprint text, i_is_proved boolean, i_items int)
returns table (outcome text, items bigint, item json)
language plpgsql stable
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_target text := case when i_letters is null and i_activity_ids is null and i_kind <> 'roll_back'
    then '(select d.id as letter_id, d.activity_id, d.claim_id, d as letter from largesse.dead_letter d where d.closed_at is null'
         || largesse.dead_letter_conditions(i_provider, i_cause, i_activity_code, i_fingerprint) || ')'
    else '(select t.letter_id, t.activity_id, t.claim_id, d as letter
             from largesse.operation_targets($1, $2, $3, $4, null, null, null, null, null, null, null, null, null) t left join largesse.dead_letter d on d.id = t.letter_id)' end;
  -- Whether a provider takes back is asked once for each reward.
  v_looked text := ' from ' || v_target || ' t
      left join largesse.claim c on c.activity_id = t.activity_id and c.id = t.claim_id
      left join (select w.id, largesse.reward_can_be_reversed(w.id) as can_be_reversed from largesse.reward w where $1 not in (''retry'', ''resolve'') offset 0) w on w.id = c.reward_id';
  v_verdict text := 'largesse.operation_verdict($1, t.letter, c, w.can_be_reversed,
      case when $1 = ''retry'' and c.review_cause = ''late_payment'' then largesse.claim_can_be_given(c) end, $5)';
begin
  return query execute 'select ' || v_verdict || ', count(*), null::json' || v_looked || ' group by 1' using i_kind, i_letters, i_activity_ids, i_claim_ids, i_is_proved;
  if i_items > 0 then
    return query execute 'select i.outcome, null::bigint, largesse.operation_item_json(i.letter_id, i.activity_id, i.claim_id, null, null, null, i.outcome)
        from (select t.letter_id, t.activity_id, t.claim_id, ' || v_verdict || ' as outcome' || v_looked || ' order by t.activity_id, t.claim_id, t.letter_id limit $6) i
       order by i.activity_id, i.claim_id, i.letter_id'
      using i_kind, i_letters, i_activity_ids, i_claim_ids, i_is_proved, i_items;
  end if;
end $$;

-- The same of findings. Each repair counts anew, so the first thousand are looked at, and for two seconds at most.
-- Parameters: as operation_preview. Result: as operation_preview_letters, and a row without outcome: how many are meant. Locks: none. Errors: none.
create or replace function largesse.operation_preview_findings(
  i_kind text, i_keys text[], i_provider text, i_activity_code text, i_state text, i_finding_kind text, i_severity text, i_source text, i_items int)
returns table (outcome text, items bigint, item json)
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_until  timestamptz := clock_timestamp() + interval '2 seconds';  -- of effort, whatever the clock of the activities says
  v_counts jsonb := '{}';
  v_n      int := 0;
  v_target record;
  v_tried  record;
begin
  if i_kind = 'explain' then
    return query select case when f.state is null then 'not_found' when f.state = 'gone' then 'gone' else 'explained' end, count(*), null::json
      from largesse.finding_named(i_keys, i_state, i_finding_kind, i_severity, i_activity_code, i_provider, i_source) f group by 1;
  end if;
  items := (select count(*) from largesse.finding_named(i_keys, i_state, i_finding_kind, i_severity, i_activity_code, i_provider, i_source));
  return next;
  for v_target in
    select f.activity_id, f.claim_id, f.key from largesse.finding_named(i_keys, i_state, i_finding_kind, i_severity, i_activity_code, i_provider, i_source) f
     order by f.activity_id, f.claim_id, f.key limit case i_kind when 'repair' then 1000 else i_items end
  loop
    select * into v_tried from largesse.finding_try(i_kind, v_target.key, false);
    v_n := v_n + 1;
    v_counts := v_counts || jsonb_build_object(v_tried.outcome, coalesce((v_counts ->> v_tried.outcome)::bigint, 0) + 1);
    if v_n <= i_items then
      items := null;
      outcome := v_tried.outcome;
      item := largesse.operation_item_json(null, v_target.activity_id, v_target.claim_id, v_target.key, v_tried.before, v_tried.after, v_tried.outcome);
      return next;
    end if;
    exit when clock_timestamp() > v_until;
  end loop;
  if i_kind = 'repair' then return query select e.key, e.value::bigint, null::json from jsonb_each_text(v_counts) e; end if;
end $$;

-- Shows what an operation would do, and changes nothing.
-- Parameters: as operation_targets; i_is_proved as operation_verdict; i_items: how many of the first items. Result: JSON text as operation_json, with `dryRun` true; of repairs
-- the first thousand are looked at, fewer where they take more than two seconds, and `previewed` says so. Locks: none. Errors: none.
create or replace function largesse.operation_preview(
  i_kind text, i_letters bigint[], i_activity_ids bigint[], i_claim_ids bigint[],
  i_provider text, i_cause text, i_activity_code text, i_fingerprint text, i_is_proved boolean,
  i_keys text[] default null, i_state text default null, i_finding_kind text default null, i_severity text default null, i_source text default null, i_items int default 10000)
returns table (doc text)
language plpgsql volatile security definer  -- repairs are asked what they would do
set search_path = largesse, pg_temp set jit = off
as $$
begin
  return query with looked as materialized (
    select l.* from largesse.operation_preview_letters(i_kind, i_letters, i_activity_ids, i_claim_ids, i_provider, i_cause, i_activity_code, i_fingerprint, i_is_proved, i_items) l
     where not largesse.operation_is_about_findings(i_kind)
    union all
    select l.* from largesse.operation_preview_findings(i_kind, i_keys, i_provider, i_activity_code, i_state, i_finding_kind, i_severity, i_source, i_items) l
     where largesse.operation_is_about_findings(i_kind)
  ), whole as materialized (
    select coalesce(sum(l.items) filter (where l.outcome is not null), 0) as looked_at, coalesce(max(l.items) filter (where l.outcome is null), sum(l.items), 0) as total from looked l
  )
  select (select json_object_agg(f.name, f.value order by f.place)
            from (select 1 as place, 'kind' as name, to_json(i_kind) as value
                  union all select 2, 'dryRun', to_json(true)
                  union all select 3, 'total', to_json(w.total) from whole w
                  union all select 3, 'previewed', to_json(w.looked_at) from whole w where w.looked_at < w.total
                  union all select 3 + o.place, largesse.operation_member(o.name), to_json(coalesce((select l.items from looked l where l.outcome = o.name and l.items is not null), 0))
                              from unnest(largesse.operation_outcomes(i_kind)) with ordinality as o(name, place)
                  union all select 100, 'items', coalesce((select json_agg(l.item) from looked l where l.item is not null), '[]')) f)::text;
end $$;

-- Begins an operation: what is meant is written down now, so what comes later is not touched and what is interrupted goes on.
-- Parameters: as operation_targets; i_actor, i_reason, i_proof, i_as_delivered (of a resolve), i_rate: items a second, i_key: of the caller; null: none.
-- Result: one row: the operation, and `created`, `replayed` (the same was asked for with this key before) or `key_reused` (something else was).
-- Locks: the new rows. Errors: none. Written down in the operator log.
create or replace function largesse.operation_begin(
  i_kind text, i_letters bigint[], i_activity_ids bigint[], i_claim_ids bigint[],
  i_provider text, i_cause text, i_activity_code text, i_fingerprint text,
  i_actor text, i_reason text, i_proof text, i_as_delivered boolean, i_rate int, i_key text,
  i_keys text[] default null, i_state text default null, i_finding_kind text default null, i_severity text default null, i_source text default null)
returns table (operation_id bigint, verdict text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now     timestamptz := largesse.clock_now();
  v_request text := md5(row(i_kind, i_letters, i_activity_ids, i_claim_ids, i_provider, i_cause, i_activity_code, i_fingerprint, i_proof, i_as_delivered)::text
                       || case when largesse.operation_is_about_findings(i_kind) then row(i_keys, i_state, i_finding_kind, i_severity, i_source)::text else '' end);
  v_total   bigint;
begin
  verdict := 'created';
  insert into largesse.operation (kind, actor, reason, proof, as_delivered, rate, key, request, total, created_at, paid_until, next_at)
    values (i_kind, i_actor, i_reason, i_proof, i_as_delivered, i_rate, i_key, v_request, 0, v_now, v_now, v_now)
    on conflict (key) do nothing returning id into operation_id;
  if operation_id is null then
    select o.id, case o.request when v_request then 'replayed' else 'key_reused' end into operation_id, verdict
      from largesse.operation o where o.key = i_key;
    return next;
    return;
  end if;
  insert into largesse.operation_item (operation_id, n, letter_id, activity_id, claim_id, finding_key)
    select operation_begin.operation_id, t.n, t.letter_id, t.activity_id, t.claim_id, t.finding_key
      from largesse.operation_targets(i_kind, i_letters, i_activity_ids, i_claim_ids, i_provider, i_cause, i_activity_code, i_fingerprint,
                                      i_keys, i_state, i_finding_kind, i_severity, i_source) t;
  get diagnostics v_total = row_count;
  update largesse.operation o
     set total = v_total, state = case v_total when 0 then 'done' else 'running' end, finished_at = case v_total when 0 then v_now end
   where o.id = operation_begin.operation_id;
  if v_total > 0 then perform largesse.operation_log(operation_begin.operation_id); end if;
  return next;
end $$;

-- Writes an operation down in the log, under what it is about where that is one thing, else under its own number.
-- Parameters: i_id. Result: none. Locks, errors: as log_append.
create or replace function largesse.operation_log(i_id bigint) returns void
language sql volatile
set search_path = largesse, pg_temp
as $$
  select largesse.log_append(
           o.actor, case o.kind when 'roll_back' then 'claims.roll_back' when 'repair' then 'findings.repair' when 'explain' then 'findings.explain'
                                else 'dead_letters.' || o.kind end,
           case when o.total = 1 then coalesce(i.finding_key, i.activity_id || '-' || i.claim_id, i.letter_id::text) else 'operation/' || o.id end,
           o.reason, jsonb_strip_nulls(jsonb_build_object('operationId', o.id::text, 'total', o.total, 'proof', o.proof, 'key', o.key,
             'as', case when o.kind = 'resolve' then case when o.as_delivered then 'delivered' else 'not-delivered' end end)))
    from largesse.operation o join largesse.operation_item i on i.operation_id = o.id and i.n = 1
   where o.id = i_id
$$;
