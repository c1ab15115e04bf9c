-- SPDX-License-Identifier: Apache-2.0
-- Who may claim in activities that ask for a qualification.

-- Adds users to an activity's list, all in one transaction. Whoever is on it already stays as he is, used or unused; of a user named twice the first counts.
-- Parameters: i_code; parallel arrays, those of sources, batches and exts (JSON objects as text) may be null; i_actor, i_reason. Result: one row: outcome 'ok' or a refusal's code;
-- detail; how many are new, and how many were on the list or named twice. Locks: the new rows, by user. Errors: 22P02 for an ext that is no JSON.
create or replace function largesse.qualification_import(i_code text, i_user_ids bigint[], i_sources text[], i_batches text[], i_exts text[],
  i_actor text default 'system', i_reason text default null)
returns table (outcome text, detail text, inserted bigint, duplicates bigint)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set work_mem = '64MB'
as $$
declare
  v_act largesse.activity;
begin
  select * into v_act from largesse.activity a where a.code = i_code;
  if not found then
    outcome := 'ACTIVITY_NOT_FOUND'; detail := 'there is no activity ' || i_code; return next; return;
  end if;
  if v_act.status in ('finished', 'archived') then
    outcome := 'STATE_CONFLICT'; detail := 'the activity is ' || v_act.status; return next; return;
  end if;
  insert into largesse.qualification (activity_id, user_id, source, batch, ext, created_at)
    select v_act.id, r.user_id, r.source, r.batch, r.ext::jsonb, largesse.clock_now()
      from unnest(i_user_ids, i_sources, i_batches, i_exts) with ordinality r(user_id, source, batch, ext, ord)
     order by r.user_id, r.ord
    on conflict do nothing;
  get diagnostics inserted = row_count;
  outcome := 'ok'; duplicates := cardinality(i_user_ids) - inserted;
  if inserted > 0 then
    perform largesse.log_append(i_actor, 'qualifications.import', i_code, i_reason, jsonb_build_object('inserted', inserted, 'duplicates', duplicates));
  end if;
  return next;
end $$;

-- An activity's list in the order of users. Parameters: i_code; i_user_id (null: all); i_status 'used' or 'unused' (null: both); i_after: the last user seen
-- (0 to begin); i_limit. Result: user and JSON text. Locks, errors: none.
create or replace function largesse.qualification_list(i_code text, i_user_id bigint, i_status text, i_after bigint, i_limit int)
returns table (user_id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select q.user_id, format('{"userId":"%s","status":"%s"%s%s%s%s,"createdAt":"%s"}',
           q.user_id, case when q.claim_id is null then 'unused' else 'used' end,
           ',"claimId":"' || q.activity_id || '-' || q.claim_id || '"', ',"source":' || to_json(q.source)::text,
           ',"batch":' || to_json(q.batch)::text, ',"ext":' || q.ext::text, largesse.time_text(q.created_at))
    from largesse.activity a
    join largesse.qualification q on q.activity_id = a.id
   where a.code = i_code and q.user_id > i_after and (i_user_id is null or q.user_id = i_user_id)
     and (i_status is null or (i_status = 'used') = (q.claim_id is not null))
   order by q.user_id limit i_limit
$$;
