-- SPDX-License-Identifier: Apache-2.0
-- Writing findings down. Whoever finds something, an audit or the matching of statements, writes it by this function, so that all have the same states.

-- A finding is opened when it is new, stays open while it is seen, and is opened again when it comes back. What a person has explained stays gone as long as it
-- says what was explained; with another figure it is opened again, and its explanation is no longer in force.
-- Parameters: the findings as parallel arrays, each key once or more (the last counts): i_keys, i_kinds (registered; others are left out), i_activities and i_claims
-- (null: none), i_expected, i_actual; i_providers, i_amounts (minor units) and i_currencies: null, as a whole or for one, where it is not about money.
-- Result: none. Locks: the findings, in the order of keys. Errors: none.
create or replace function largesse.finding_upsert(
  i_keys text[], i_kinds text[], i_activities bigint[], i_claims bigint[], i_expected text[], i_actual text[],
  i_providers text[], i_amounts bigint[], i_currencies text[]) returns void
language plpgsql volatile
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_now timestamptz := largesse.clock_now();
begin
  insert into largesse.finding as f (key, kind, severity, activity_id, claim_id, expected, actual, provider, amount, currency, state, opened_at, last_seen_at)
    select distinct on (r.key) r.key, r.kind, d.severity, r.activity_id, r.claim_id, r.expected, r.actual, r.provider, r.amount, r.currency, 'opened', v_now, v_now
      from unnest(i_keys, i_kinds, i_activities, i_claims, i_expected, i_actual, i_providers, i_amounts, i_currencies)
             with ordinality as r(key, kind, activity_id, claim_id, expected, actual, provider, amount, currency, place)
      join largesse.audit_definition d on d.name = r.kind
     order by r.key, r.place desc
  on conflict on constraint finding_pkey do update
    set (state, opened_at, gone_at, resolved_at, resolved_by, resolve_reason) = (
          -- The columns of the row as it was.
          select case when w.is_explained then 'gone' when f.state = 'gone' then 'opened' else 'open' end,
                 case when f.state = 'gone' and not w.is_explained then v_now else f.opened_at end,
                 case when w.is_explained then f.gone_at end,
                 case when w.is_explained then f.resolved_at end,
                 case when w.is_explained then f.resolved_by end,
                 case when w.is_explained then f.resolve_reason end
            from (values (f.state = 'gone' and f.resolved_at is not null and f.expected = excluded.expected and f.actual = excluded.actual)) w(is_explained)),
        severity = excluded.severity, activity_id = excluded.activity_id, claim_id = excluded.claim_id, expected = excluded.expected, actual = excluded.actual,
        provider = excluded.provider, amount = excluded.amount, currency = excluded.currency, last_seen_at = v_now;
end $$;
