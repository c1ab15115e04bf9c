-- SPDX-License-Identifier: Apache-2.0
-- Archives of activities that are over: what belongs to one, whether anything of it is still open, and what was exported and verified.
-- Months whose partitions are detached are the business of archive_month.sql.

-- A month as people write it (2026-11), and its number since 1970-01. Parameters: the other form. Result: null for what is no month. Locks, errors: none.
create or replace function largesse.archive_month_name(i_month int) returns text
language sql immutable
as $$ select to_char(date '1970-01-01' + make_interval(months => i_month), 'YYYY-MM') $$;
create or replace function largesse.archive_month_number(i_name text) returns int
language sql immutable
as $$
  select case when i_name ~ '^[1-9][0-9]{3}-(0[1-9]|1[0-2])$' and left(i_name, 4)::int >= 1970
              then (left(i_name, 4)::int - 1970) * 12 + right(i_name, 2)::int - 1 end
$$;

-- Whether the claims of an activity are sealed or detached: nobody changes or audits them then. Parameters: i_activity_id. Result: the answer. Locks, errors: none.
create or replace function largesse.archive_is_away(i_activity_id bigint) returns boolean
language sql stable
as $$ select exists (select from largesse.archive_month m where m.month = (i_activity_id / 1000000)::int) $$;

-- The same in words, for whoever asks for such an activity. Parameters: i_activity_id. Result: null: they are there. Locks, errors: none.
create or replace function largesse.archive_note(i_activity_id bigint) returns text
language sql stable
as $$
  select format('the month %s is archived and detached; "reconciler archive attach %s" brings its claims back', n.name, n.name)
    from largesse.archive_month m cross join lateral (select largesse.archive_month_name(m.month) as name) n where m.month = (i_activity_id / 1000000)::int
$$;

-- What is exported of an activity, in this order. Parameters: none. Result: a row per table: its name; the condition (on t, with the activity as $1); the order;
-- whether nothing may change there any more once the activity is archived; whether it has documents, whose nulls mean something. Locks, errors: none.
create or replace function largesse.archive_tables()
returns table (n int, name text, condition text, sorting text, is_fixed boolean, has_documents boolean)
language sql immutable
as $$
  select v.* from (values
    (1, 'activity', 't.id = $1', 't.id', false, true),
    (2, 'activity_limit', 't.activity_id = $1', 't.period collate "C"', true, false),
    (3, 'activity_history', 't.activity_id = $1', 't.id', false, false),
    (4, 'reward', 't.id = any ((select largesse.archive_rewards($1))::int[])', 't.id', false, true),
    (5, 'stock', 't.activity_id = $1', 't.segment', true, false),
    (6, 'stock_adjustment', 't.activity_id = $1', 't.key collate "C"', true, false),
    (7, 'claim', 't.activity_id = $1', 't.id', true, false),
    (8, 'usage', 't.activity_id = $1', 't.user_id, t.period, t.period_start', true, false),
    (9, 'attempt', 't.activity_id = $1', 't.claim_id, t.attempt, t.call', true, false),
    (10, 'callback', 't.activity_id = $1', 't.claim_id, t.received_at, t.provider, t.event_id', false, false),
    (11, 'dead_letter', 't.activity_id = $1', 't.id', true, false),
    (12, 'qualification', 't.activity_id = $1', 't.user_id', true, true),
    (13, 'blocked_user', 't.activity_id = $1', 't.user_id', true, false),
    (14, 'activity_number', 't.activity_id = $1', 't.number', true, false),
    (15, 'points_entry', 't.activity_id = $1', 't.id', true, false),
    (16, 'coupon_use', 't.activity_id = $1', 't.claim_id, t.unit, t.redemption_id', true, false),
    (17, 'refusal_count', 't.activity_id = $1', 't.minute, t.code collate "C"', false, false),
    (18, 'claim_queue', 't.activity_id = $1', 't.place', false, false),
    (19, 'finding', 't.activity_id = $1', 't.key collate "C"', false, false),
    (20, 'operation', 't.id in (select i.operation_id from largesse.operation_item i where i.activity_id = $1)', 't.id', false, true),
    (21, 'operation_item', 't.activity_id = $1', 't.operation_id, t.n', false, false),
    (22, 'night_activity', 't.activity_id = $1', 't.business_date', false, false),
    (23, 'activity_minute', 't.activity_id = $1', 't.minute', false, false),
    (24, 'statement_line', 't.activity_id = $1', 't.statement_id, t.line', false, false),
    (25, 'statement_item', 't.activity_id = $1', 't.provider, t.claim_id, t.kind', false, false),
    (26, 'operator_log', 't.target = (select a.code from largesse.activity a where a.id = $1)', 't.seq', false, false)
  ) as v(n, name, condition, sorting, is_fixed, has_documents)
$$;

-- The table in which the claims or counters of an activity lie, also when its month is detached. Parameters: i_parent: claim or usage; i_activity_id. Result: its
-- name, for format('… %s …'); null: it was detached and is no longer kept. Locks, errors: none.
create or replace function largesse.archive_relation(i_parent text, i_activity_id bigint) returns text
language plpgsql stable
set search_path = largesse, pg_temp
as $$
declare
  v_name text := i_parent || '_' || replace(largesse.archive_month_name((i_activity_id / 1000000)::int), '-', '');
begin
  if not exists (select from largesse.archive_month m where m.month = (i_activity_id / 1000000)::int and m.state = 'detached') then
    return largesse.month_relation(i_parent, array[i_activity_id]);
  end if;
  return case when to_regclass('largesse_archive.' || v_name) is not null then 'largesse_archive.' || v_name end;
end $$;

-- The claims of an activity, wherever they lie. Parameters: i_activity_id. Result: their rows, in no order. Locks, errors: none.
create or replace function largesse.archive_claims(i_activity_id bigint) returns setof largesse.claim
language plpgsql stable security definer  -- the cursor of archive_open calls it later, for whoever fetches
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_relation text := largesse.archive_relation('claim', i_activity_id);
begin
  if v_relation is null then return; end if;
  if v_relation not like 'largesse\_archive.%' then
    return query execute format('select c.* from %s c where c.activity_id = $1', v_relation) using i_activity_id;
    return;
  end if;
  -- A column that came later is not there.
  return query execute format('select (jsonb_populate_record(null::largesse.claim, to_jsonb(c))).* from %s c where c.activity_id = $1', v_relation) using i_activity_id;
end $$;

-- One claim of an activity whose month is detached: an accepted click stays known. Parameters: i_activity_id; i_claim_id or i_biz_id. Result: its row, of nulls if there
-- is none. Locks, errors: none.
create or replace function largesse.archive_claim(i_activity_id bigint, i_claim_id bigint, i_biz_id text) returns largesse.claim
language plpgsql stable
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_relation text := largesse.archive_relation('claim', i_activity_id);
  v_claim    largesse.claim;
begin
  if v_relation is null or not largesse.archive_is_away(i_activity_id) then return null; end if;
  execute format('select (jsonb_populate_record(null::largesse.claim, to_jsonb(c))).* from %s c where c.activity_id = $1 and %s',
                 v_relation, case when i_claim_id is not null then 'c.id = $2' else 'c.biz_id = $3' end) into v_claim using i_activity_id, i_claim_id, i_biz_id;
  return v_claim;
end $$;

-- The versions of rewards and terms of payment that an activity and its claims have. Parameters: i_activity_id. Result: their ids. Locks, errors: none.
create or replace function largesse.archive_rewards(i_activity_id bigint) returns int[]
language plpgsql stable security definer  -- the cursor of archive_open calls it later, for whoever fetches
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_relation text := largesse.archive_relation('claim', i_activity_id);
  v_ids      int[] := '{}';
begin
  if v_relation is not null then
    execute format('select array(select distinct r.id from %s c cross join lateral (values (c.reward_id), (c.payment_id)) as r(id) where c.activity_id = $1 and r.id is not null)',
                   v_relation) into v_ids using i_activity_id;
  end if;
  return v_ids || array(select a.reward_id from largesse.activity a where a.id = i_activity_id and a.reward_id is not null);
end $$;

-- What an activity's claims come to, wherever they lie. Parameters: i_activity_id. Result: one row: a text that is another one whenever a claim has changed in the way in
-- which programs change them; how many are not finished, and how many are owed a refund or a reversal. Locks, errors: none.
create or replace function largesse.archive_claim_figures(i_activity_id bigint) returns table (state text, unfinished bigint, owed bigint)
language plpgsql stable
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_relation text := largesse.archive_relation('claim', i_activity_id);
begin
  return query execute format($q$
    select concat_ws(' ', count(*), sum(c.quantity), max(extract(epoch from c.updated_at)), sum(c.attempts)),
           count(*) filter (where c.status in ('waiting', 'offered', 'held', 'issuing') or c.next_attempt_at is not null or c.review_since is not null),
           count(*) filter (where c.refund in ('owed', 'pending', 'retry', 'unknown') or c.reversal in ('owed', 'pending', 'retry', 'unknown'))
      from %s c where c.activity_id = $1 and %s $q$, coalesce(v_relation, 'largesse.claim'), case when v_relation is null then 'false' else 'true' end) using i_activity_id;
end $$;

-- Opens the cursor "archive_rows" over what is exported of one table: a column of JSON text. To be fetched from in the transaction that opened it, with the time
-- zone UTC, so that the same rows are the same bytes. Parameters: i_activity_id, i_name: one of archive_tables. Result: the cursor. Locks, errors: none.
create or replace function largesse.archive_open(i_activity_id bigint, i_name text) returns refcursor
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_cursor   refcursor := 'archive_rows';
  v_table    record;
  v_relation text;
begin
  select * into strict v_table from largesse.archive_tables() t where t.name = i_name;
  v_relation := case when i_name in ('claim', 'usage') then largesse.archive_relation(i_name, i_activity_id) else 'largesse.' || i_name end;
  open v_cursor no scroll for execute format('select %s from %s t where %s order by %s',
      case when v_relation is null then 'null' when v_table.has_documents then 'row_to_json(t)::text' else 'json_strip_nulls(row_to_json(t))::text' end,
      coalesce(v_relation, '(select where false)'), case when v_relation is null then 'true or $1 > 0' else v_table.condition end,
      case when v_relation is null then '1' else v_table.sorting end) using i_activity_id;
  return v_cursor;
end $$;

-- What an activity's rows say, in short: another one whenever a claim, an attempt, a letter or its stock has changed in the way in which programs change them.
-- Parameters: i_activity_id. Result: text. Locks, errors: none.
create or replace function largesse.archive_state(i_activity_id bigint) returns text
language sql stable
as $$
  select md5(concat_ws(' ',
    (select f.state from largesse.archive_claim_figures(i_activity_id) f),
    (select count(*) from largesse.attempt t where t.activity_id = i_activity_id),
    (select concat_ws(' ', count(*), max(d.id), count(d.closed_at)) from largesse.dead_letter d where d.activity_id = i_activity_id),
    (select concat_ws(' ', sum(s.remaining), sum(s.taken)) from largesse.stock s where s.activity_id = i_activity_id),
    (select concat_ws(' ', count(*), sum(d.by)) from largesse.stock_adjustment d where d.activity_id = i_activity_id),
    (select concat_ws(' ', count(*), count(u.released_at)) from largesse.coupon_use u where u.activity_id = i_activity_id),
    (select concat_ws(' ', count(*), count(q.claim_id)) from largesse.qualification q where q.activity_id = i_activity_id)))
$$;

-- What of an activity is not finished, so that it cannot be archived. Parameters: i_activity_id. Result: a row per kind of thing: what it is, and how many there are.
-- Locks, errors: none.
create or replace function largesse.archive_open_items(i_activity_id bigint) returns table (what text, n bigint)
language sql stable
set search_path = largesse, pg_temp set jit = off
as $$
  select * from (
    select v.what, v.n from largesse.archive_claim_figures(i_activity_id) f
     cross join lateral (values ('claims that are not finished', f.unfinished), ('refunds or reversals that are owed', f.owed)) as v(what, n)
    union all
    select 'open dead letters', count(*) from largesse.dead_letter d where d.activity_id = i_activity_id and d.closed_at is null
    union all
    select 'findings', count(*) from largesse.finding f where f.activity_id = i_activity_id and f.state <> 'gone'
    union all
    select 'items of running operations', count(*) from largesse.operation_item i join largesse.operation o on o.id = i.operation_id and o.state = 'running'
     where i.activity_id = i_activity_id and i.outcome is null
    union all
    -- Those that a person has explained are settled.
    select 'movements that no statement has shown yet', count(*) from largesse.statement_item i
     where i.activity_id = i_activity_id and not exists (select from largesse.finding f where f.key = i.finding_key and f.state = 'gone')
    union all
    select 'queued requests', count(*) from largesse.claim_queue q where q.activity_id = i_activity_id and q.verdict is null) o
   where o.n > 0
$$;

-- The same in one line; null: nothing. Parameters: i_activity_id. Result: text. Locks, errors: none.
create or replace function largesse.archive_open_text(i_activity_id bigint) returns text
language sql stable
as $$ select string_agg(o.n || ' ' || o.what, ', ') from largesse.archive_open_items(i_activity_id) o $$;

-- Looks whether an activity can be exported, and says what is written about it. Begun in the transaction whose snapshot is exported: nobody else exports the activity
-- until its end. Parameters: i_code. Result: one row: outcome ('ok', 'not_found', 'not_finished', 'open', 'away', 'busy'), detail, the activity, its month
-- (2026-11), the instant, archive_state. Locks: an advisory lock of the transaction. Errors: none.
create or replace function largesse.archive_begin(i_code text)
returns table (outcome text, detail text, activity_id bigint, month text, at timestamptz, state_hash text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
#variable_conflict use_column
declare
  v_status text;
begin
  select a.id, a.status into activity_id, v_status from largesse.activity a where a.code = i_code;
  if not found then outcome := 'not_found'; detail := 'there is no activity ' || i_code; return next; return; end if;
  at := largesse.clock_now();
  month := largesse.archive_month_name((activity_id / 1000000)::int);
  detail := largesse.archive_note(activity_id);
  outcome := case when detail is not null then 'away' end;
  if outcome is null and v_status not in ('finished', 'archived') then
    outcome := 'not_finished'; detail := format('it is %s; only what is finished is archived', v_status);
  end if;
  if outcome is null then
    detail := largesse.archive_open_text(activity_id);
    outcome := case when detail is not null then 'open' end;
  end if;
  if outcome is null and not pg_try_advisory_xact_lock(hashtextextended('largesse.archive.' || i_code, 0)) then
    outcome := 'busy'; detail := 'somebody is exporting it';
  end if;
  if outcome is null then
    outcome := 'ok'; state_hash := largesse.archive_state(activity_id);
  end if;
  return next;
end $$;

-- Writes down that a verified export of an activity exists, and moves what is finished to archived. Parameters: i_activity_id; path, hash, size and content of the file;
-- i_state_hash and i_at: of archive_begin; i_actor, i_reason. Result: one row: outcome ('ok', 'changed': its rows have changed since, 'open', 'away'), detail.
-- Locks: the activity, then the log. Errors: none.
create or replace function largesse.archive_confirm(
  i_activity_id bigint, i_path text, i_sha256 bytea, i_bytes bigint, i_rows bigint, i_manifest text, i_state_hash text, i_at timestamptz, i_actor text, i_reason text)
returns table (outcome text, detail text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_code text;
begin
  select a.code into strict v_code from largesse.activity a where a.id = i_activity_id for no key update;
  detail := largesse.archive_note(i_activity_id);
  if detail is not null then outcome := 'away'; return next; return; end if;
  detail := largesse.archive_open_text(i_activity_id);
  if detail is not null then outcome := 'open'; return next; return; end if;
  if largesse.archive_state(i_activity_id) <> i_state_hash then
    outcome := 'changed'; detail := 'its rows have changed while they were exported'; return next; return;
  end if;
  perform 1 from largesse.activity_move(array[i_activity_id], 'archived', i_actor, coalesce(i_reason, 'exported'));
  insert into largesse.archive as a (activity_id, path, sha256, bytes, rows, manifest, state_hash, exported_at, exported_by, verified_at, reason)
    values (i_activity_id, i_path, i_sha256, i_bytes, i_rows, i_manifest::jsonb, i_state_hash, i_at, i_actor, largesse.clock_now(), i_reason)
    on conflict (activity_id) do update
      set path = excluded.path, sha256 = excluded.sha256, bytes = excluded.bytes, rows = excluded.rows, manifest = excluded.manifest, state_hash = excluded.state_hash,
          exported_at = excluded.exported_at, exported_by = excluded.exported_by, verified_at = excluded.verified_at, reason = excluded.reason;
  perform largesse.log_append(i_actor, 'activity.export', v_code, i_reason,
                              jsonb_build_object('path', i_path, 'sha256', encode(i_sha256, 'hex'), 'bytes', i_bytes, 'rows', i_rows));
  outcome := 'ok';
  return next;
end $$;

-- What is known of the newest export of an activity. Parameters: i_activity_id. Result: one row, or none: code, path, hash of the file (hex; null: it was never exported),
-- whether its claims can still be compared (false: detached and no longer kept). Locks, errors: none.
create or replace function largesse.archive_show(i_activity_id bigint)
returns table (code text, path text, sha256 text, is_there boolean)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select a.code, x.path, encode(x.sha256, 'hex'), largesse.archive_relation('claim', a.id) is not null
    from largesse.activity a left join largesse.archive x on x.activity_id = a.id where a.id = i_activity_id
$$;

-- Notes that a file was read and found to be whole and to say what the database says. Parameters: i_activity_id, i_sha256: the file's. Result: whether it is the one on record.
-- Locks: its row. Errors: none.
create or replace function largesse.archive_verified(i_activity_id bigint, i_sha256 bytea) returns boolean
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  update largesse.archive a set verified_at = largesse.clock_now() where a.activity_id = i_activity_id and a.sha256 = i_sha256;
  return found;
end $$;

-- Whether an activity has changed since an instant, as far as programs change it; found without reading all of its rows. Parameters: i_activity_id, i_since. Result: the
-- answer. Locks, errors: none.
create or replace function largesse.archive_has_changed(i_activity_id bigint, i_since timestamptz) returns boolean
language plpgsql stable
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_relation text := largesse.archive_relation('claim', i_activity_id);
  v_changed  boolean := false;
begin
  if v_relation is not null then
    execute format('select exists (select from %s c where c.activity_id = $1 and c.updated_at > $2)', v_relation) into v_changed using i_activity_id, i_since;
  end if;
  return v_changed
    or exists (select from largesse.dead_letter d where d.activity_id = i_activity_id and (d.opened_at > i_since or d.closed_at > i_since))
    or exists (select from largesse.stock_adjustment d where d.activity_id = i_activity_id and d.at > i_since)
    or exists (select from largesse.qualification q where q.activity_id = i_activity_id and q.created_at > i_since)
    or exists (select from largesse.coupon_use u join largesse.redemption r on r.id = u.redemption_id
                where u.activity_id = i_activity_id and (r.redeemed_at > i_since or u.released_at > i_since));
end $$;

-- Activities that are over and have no export that says what they say now. Parameters: i_before: they ended before it; i_after: the last id seen (0 to begin), i_limit.
-- Result: id and code. Locks, errors: none.
create or replace function largesse.archive_candidates(i_before timestamptz, i_after bigint, i_limit int)
returns table (activity_id bigint, code text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select a.id, a.code
    from largesse.activity a left join largesse.archive x on x.activity_id = a.id
   where a.id > i_after and a.status in ('finished', 'archived') and a.end_at < i_before and not largesse.archive_is_away(a.id)
     and (x.activity_id is null or largesse.archive_has_changed(a.id, x.exported_at))
   order by a.id limit i_limit
$$;

-- The exports, by activity. Parameters: i_month (2026-11; null: all), i_after: the last activity seen (0 to begin), i_limit. Result: place and JSON text.
-- state: current, changed (its rows are no longer what was exported), detached. Locks, errors: none.
create or replace function largesse.archive_list(i_month text, i_after bigint, i_limit int)
returns table (place bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select x.activity_id, json_strip_nulls(json_build_object(
           'activityCode', a.code, 'month', largesse.archive_month_name((x.activity_id / 1000000)::int),
           'state', case when m.state = 'detached' then 'detached' when m.state is not null then m.state
                         when largesse.archive_has_changed(x.activity_id, x.exported_at) then 'changed' else 'current' end,
           'rows', x.rows, 'bytes', x.bytes, 'sha256', encode(x.sha256, 'hex'), 'exportedAt', largesse.time_text(x.exported_at), 'exportedBy', x.exported_by,
           'verifiedAt', largesse.time_text(x.verified_at), 'path', x.path, 'tables', x.manifest))::text
    from largesse.archive x join largesse.activity a on a.id = x.activity_id
    left join largesse.archive_month m on m.month = (x.activity_id / 1000000)::int
   where x.activity_id > i_after and (i_month is null or (x.activity_id / 1000000)::int = largesse.archive_month_number(i_month))
   order by x.activity_id limit i_limit
$$;
