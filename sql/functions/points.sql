-- SPDX-License-Identifier: Apache-2.0
-- Points of users: an account and its ledger. Balances change by guarded statements only, each with its entry.

-- An entry as answers show it. Parameters: the row. Result: JSON text. Locks, errors: none.
create or replace function largesse.points_entry_doc(i_entry largesse.points_entry) returns text
language sql stable
as $$
  select format('{"id":"%s","kind":"%s"%s%s,"amount":%s,"balance":%s%s%s,"at":"%s"}',
    i_entry.id, split_part(i_entry.key, '/', 1),
    case when i_entry.key like 'grant/%' then ',"bizId":' || to_json(substr(i_entry.key, 7))::text end,
    ',"claimId":"' || i_entry.activity_id || '-' || i_entry.claim_id || '"',
    i_entry.amount, i_entry.balance,
    ',"reason":' || to_json(i_entry.reason)::text, ',"actor":' || to_json(i_entry.actor)::text, largesse.time_text(i_entry.at))
$$;

-- Gives points to a user, once per key. Parameters: i_user_id, i_key (the caller's, once per user), i_amount (above 0), i_reason, i_actor; i_is_act: somebody does
-- it as an operator, so it is written down; a service that gives points for what users do is not, the ledger has it all.
-- Result: one row: outcome 'ok', 'replayed' (the first answer), or a refusal's code; detail; the balance after it; the entry as JSON text.
-- Locks: the account. Errors: 40001 (repeat).
create or replace function largesse.points_grant(i_user_id bigint, i_key text, i_amount bigint, i_reason text, i_actor text, i_is_act boolean default false)
returns table (outcome text, detail text, balance bigint, doc text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_balance bigint;
  v_entry   largesse.points_entry;
begin
  insert into largesse.points_account (user_id, balance) values (i_user_id, 0) on conflict do nothing;
  select a.balance into v_balance from largesse.points_account a where a.user_id = i_user_id for update;  -- one grant after the other
  if not found then raise exception 'the account has just gone' using errcode = 'serialization_failure'; end if;
  select * into v_entry from largesse.points_entry e where e.user_id = i_user_id and e.key = 'grant/' || i_key;
  if found and (v_entry.amount, v_entry.reason) is distinct from (i_amount, i_reason) then
    return query select 'BIZ_ID_REUSED', format('this bizId was used for a grant of %s: %s', v_entry.amount, v_entry.reason), null::bigint, null::text; return;
  elsif found then
    return query select 'replayed', null::text, v_entry.balance, largesse.points_entry_doc(v_entry); return;
  elsif v_balance > 9223372036854775807 - i_amount then
    return query select 'INVALID_REQUEST', 'amount: the balance would be too large', null::bigint, null::text; return;
  end if;
  update largesse.points_account a set balance = a.balance + i_amount where a.user_id = i_user_id returning a.balance into v_balance;
  insert into largesse.points_entry (user_id, key, amount, balance, reason, actor, at)
    values (i_user_id, 'grant/' || i_key, i_amount, v_balance, i_reason, i_actor, largesse.clock_now()) returning * into v_entry;
  if i_is_act then
    perform largesse.log_append(i_actor, 'points.grant', i_user_id::text, i_reason, jsonb_build_object('bizId', i_key, 'amount', i_amount, 'balance', v_balance));
  end if;
  return query select 'ok', null::text, v_balance, largesse.points_entry_doc(v_entry);
end $$;

-- The same for many grants, all or none. A key that a user has used with the same content, earlier or in this very call, counts as a duplicate.
-- Parameters: parallel arrays; i_lines are what rejected rows are named by; i_actor; i_why: the reason of the whole. Result: one row: outcome 'ok', or 'INVALID_REQUEST' when rows are rejected; how many
-- were given, how many were duplicates; how many are rejected, and the first hundred of these as JSON text [{line, reason}].
-- Locks: the accounts, by user. Errors: 22003 for a balance out of range.
create or replace function largesse.points_grant_many(i_lines int[], i_user_ids bigint[], i_keys text[], i_amounts bigint[], i_reasons text[], i_actor text,
  i_why text default null)
returns table (outcome text, inserted bigint, duplicates bigint, rejected_count bigint, rejected text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set work_mem = '64MB'
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  insert into largesse.points_account (user_id, balance)
    select distinct u.user_id, 0 from unnest(i_user_ids) u(user_id) order by u.user_id on conflict do nothing;
  perform 1 from largesse.points_account a where a.user_id = any (i_user_ids) order by a.user_id for update;
  with row as (
    select r.*, first_value(row(r.amount, r.reason)) over same as first
      from unnest(i_lines, i_user_ids, i_keys, i_amounts, i_reasons) r(line, user_id, key, amount, reason)
    window same as (partition by r.user_id, r.key order by r.line)
  ), bad as (
    select r.line from row r
      left join largesse.points_entry e on e.user_id = r.user_id and e.key = 'grant/' || r.key
     where row(r.amount, r.reason) is distinct from r.first or e.id is not null and (r.amount, r.reason) is distinct from (e.amount, e.reason)
  )
  select count(*), coalesce(json_agg(json_build_object('line', b.line, 'reason', 'bizId: was used for another grant of this user') order by b.line)
                              filter (where b.place <= 100), '[]')::text
    into rejected_count, rejected
    from (select b.line, row_number() over (order by b.line) as place from bad b) b;
  if rejected_count > 0 then
    delete from largesse.points_account a where a.user_id = any (i_user_ids) and a.balance = 0
      and not exists (select from largesse.points_entry e where e.user_id = a.user_id);  -- those made above
    outcome := 'INVALID_REQUEST'; inserted := 0; duplicates := 0; return next; return;
  end if;
  with fresh as (
    select distinct on (r.user_id, r.key) r.*
      from unnest(i_lines, i_user_ids, i_keys, i_amounts, i_reasons) r(line, user_id, key, amount, reason)
     where not exists (select from largesse.points_entry e where e.user_id = r.user_id and e.key = 'grant/' || r.key)
     order by r.user_id, r.key, r.line
  ), added as (
    insert into largesse.points_entry (user_id, key, amount, balance, reason, actor, at)
      select f.user_id, 'grant/' || f.key, f.amount, a.balance + sum(f.amount) over (partition by f.user_id order by f.line), f.reason, i_actor, v_now
        from fresh f join largesse.points_account a on a.user_id = f.user_id order by f.line
    returning user_id, amount
  ), changed as (
    update largesse.points_account a set balance = a.balance + s.amount
      from (select d.user_id, sum(d.amount) as amount from added d group by d.user_id) s where a.user_id = s.user_id
  )
  select count(*) into inserted from added;
  outcome := 'ok'; duplicates := cardinality(i_user_ids) - inserted;
  if inserted > 0 then
    perform largesse.log_append(i_actor, 'points.import', 'points', i_why, jsonb_build_object('inserted', inserted, 'duplicates', duplicates));
  end if;
  return next;
end $$;

-- An account with a page of its ledger. Parameters: i_user_id; i_after: the last entry seen (0 to begin); i_limit. Result: at least one row: the balance (0 for
-- somebody who never had points), the entry's id and JSON text (null: none). Locks, errors: none.
create or replace function largesse.points_show(i_user_id bigint, i_after bigint, i_limit int)
returns table (balance bigint, id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select coalesce(a.balance, 0), e.id, largesse.points_entry_doc(e)
    from (select) one
    left join largesse.points_account a on a.user_id = i_user_id
    left join lateral (select * from largesse.points_entry e where e.user_id = i_user_id and e.id > i_after order by e.id limit i_limit) e on true
   order by e.id
$$;
