-- SPDX-License-Identifier: Apache-2.0
-- Dead letters: what machines could not finish. What people do about it is an operation (operation.sql).

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
set search_path = largesse, pg_temp set jit = off
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
set search_path = largesse, pg_temp set jit = off
as $$
  insert into largesse.dead_letter (provider, cause, detail, body, fingerprint, opened_at)
    values (i_provider, i_cause, i_detail, i_body, largesse.dead_letter_fingerprint(i_cause, null, i_detail), largesse.clock_now()) returning id
$$;
