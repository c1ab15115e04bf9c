-- SPDX-License-Identifier: Apache-2.0
-- Dead letters: what machines could not finish, and what people do about it.

-- What letters of one cause have in common, apart from their provider: the code decides, else the detail without its numbers.
-- Parameters: i_cause, i_code and i_detail or null. Result: a short text. Locks, errors: none.
create or replace function largesse.dead_letter_fingerprint(i_cause text, i_code text, i_detail text) returns text
language sql immutable parallel safe
as $$
  select i_cause || coalesce(': ' || coalesce(i_code, left(regexp_replace(i_detail, '[0-9]+', '#', 'g'), 120)), '')
$$;

-- Opens letters of claims; a claim that has an open one keeps it. Parameters (parallel arrays): keys, provider, cause, code and detail or nulls.
-- Result: how many were opened. Locks: none but of the new rows; the caller holds the claims. Errors: none.
create or replace function largesse.dead_letter_open(
  i_activity_ids bigint[], i_claim_ids bigint[], i_providers text[], i_causes text[], i_codes text[], i_details text[]) returns bigint
language sql volatile security definer
set search_path = largesse, pg_temp
as $$
  with opened as (
    insert into largesse.dead_letter (activity_id, claim_id, provider, cause, code, detail, fingerprint, opened_at)
      select r.a, r.c, r.provider, r.cause, r.code, r.detail, largesse.dead_letter_fingerprint(r.cause, r.code, r.detail), largesse.clock_now()
        from unnest(i_activity_ids, i_claim_ids, i_providers, i_causes, i_codes, i_details) as r(a, c, provider, cause, code, detail)
    on conflict (activity_id, claim_id) where closed_at is null do nothing
    returning 1)
  select count(*) from opened
$$;

-- Records a message that could not be read. Parameters: i_provider, i_cause, i_detail, i_body (capped by the caller). Result: its id.
-- Locks: none. Errors: none.
create or replace function largesse.dead_letter_unreadable(i_provider text, i_cause text, i_detail text, i_body text) returns bigint
language sql volatile security definer
set search_path = largesse, pg_temp
as $$
  insert into largesse.dead_letter (provider, cause, detail, body, fingerprint, opened_at)
    values (i_provider, i_cause, i_detail, i_body, largesse.dead_letter_fingerprint(i_cause, null, i_detail), largesse.clock_now()) returning id
$$;

-- Sends claims under review round again, with a fresh ladder and the same request id. What has meanwhile finished is skipped and told apart.
-- Parameters: i_ids of letters, i_actor, i_reason, i_dry_run: change nothing. Result: a row per letter: id, outcome retried | already_done | not_retryable | not_found.
-- Locks: the claims, ascending, then their letters. Errors: 40P01 (repeat).
create or replace function largesse.dead_letter_retry(i_ids bigint[], i_actor text, i_reason text, i_dry_run boolean)
returns table (letter_id bigint, outcome text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_letter largesse.dead_letter;
  v_now    timestamptz := largesse.clock_now();
begin
  -- Claims before letters, as settling does: else the two wait for each other.
  perform 1 from largesse.claim c
    where (c.activity_id, c.id) in (select d.activity_id, d.claim_id from largesse.dead_letter d where d.id = any (i_ids) and d.closed_at is null)
      and not i_dry_run
    order by c.activity_id, c.id for no key update;
  for letter_id in select distinct i from unnest(i_ids) i order by 1 loop
    select * into v_letter from largesse.dead_letter d where d.id = letter_id for update;
    outcome := case when not found then 'not_found'
                    when v_letter.closed_at is not null then 'already_done'
                    when v_letter.claim_id is null then 'not_retryable'
                    when i_dry_run and not exists (select from largesse.claim c where c.activity_id = v_letter.activity_id and c.id = v_letter.claim_id
                                                      and c.review_since is not null) then 'already_done'
                    else 'retried' end;
    if outcome = 'retried' and not i_dry_run then
      update largesse.claim c
         set review_since = null, review_cause = null, next_attempt_at = v_now, updated_at = v_now, attempts_before = c.attempts, sweeps = 0
       where c.activity_id = v_letter.activity_id and c.id = v_letter.claim_id and c.review_since is not null;
      if not found then outcome := 'already_done'; end if;
      update largesse.dead_letter d
         set closed_at = v_now, closed_by = i_actor, close_reason = i_reason,
             resolution = case outcome when 'retried' then 'retried' else 'settled' end
       where d.id = letter_id;
    end if;
    return next;
  end loop;
end $$;
