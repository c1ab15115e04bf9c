-- SPDX-License-Identifier: Apache-2.0
-- What claim_submit does with all but the plainest batches: together where nothing repeats and the stock decides the same about all, else one request after the
-- other (the last units; users, bizIds or numbers that repeat). Both ways the rules are those of claim_submit_ruled.
-- Parameters: i_terms; the requests as in claim_submit; i_segment (the one locked; null: all), i_remaining and i_waiting of what is locked; i_decision: what
-- the stock decides about all of them (null: it is to be found for each).
-- Result: as claim_submit. Locks: the caller holds the stock; the rest as claim_submit. Its caller's settings are in force. Errors: as claim_submit.
create or replace function largesse.claim_submit_carefully(
  i_terms largesse.claim_terms, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[], i_number_ords int[], i_numbers bigint[],
  i_queued_at timestamptz[], i_segment int, i_remaining bigint, i_waiting bigint, i_decision text)
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  -- Asked only where there are some: a function like this is planned anew with each call.
  v_sets     text[] := case when cardinality(i_number_ords) > 0 then largesse.claim_number_sets(cardinality(i_biz_ids), i_number_ords, i_numbers) end;
  v_decision text := i_decision;
begin
  perform largesse.claim_numbers_check(i_terms, i_quantities, v_sets);
  if v_sets is not null and (select count(*) <> count(distinct n) from unnest(i_numbers) n) then v_decision := null; end if;
  if v_decision is not null then
    perform largesse.claim_lock_newcomers(i_terms, i_user_ids, false);
    return query select * from largesse.claim_submit_ruled(i_terms, i_biz_ids, i_user_ids, i_quantities, i_channels, v_sets, i_queued_at, i_segment,
                                                           i_remaining, i_waiting, v_decision);
  else
    -- Before the first of them is judged: one after the other they would be locked in the order of the requests.
    perform largesse.claim_lock_newcomers(i_terms, i_user_ids, true);
    perform largesse.claim_lock_users(i_terms, i_user_ids);
    return query select * from largesse.claim_submit_in_order(i_terms, i_biz_ids, i_user_ids, i_quantities, i_channels, v_sets, i_queued_at, i_segment,
                                                              i_remaining, i_waiting);
  end if;
  return query select 0, i_terms.activity_status, sum(s.remaining)::bigint, null::text, i_terms.now, null::text
                 from largesse.stock s where s.activity_id = i_terms.activity_id;
end $$;

-- Refuses numbers where the kind has none, and a quantity that is not their count. Parameters: i_terms; i_quantities; i_number_sets. Result: none. Locks: none.
-- Errors: 22023.
create or replace function largesse.claim_numbers_check(i_terms largesse.claim_terms, i_quantities int[], i_number_sets text[]) returns void
language plpgsql stable
as $$
begin
  if i_terms.kind <> 'number' then
    if i_number_sets is null then return; end if;
    raise exception 'activity % has no numbers', i_terms.code using errcode = 'invalid_parameter_value';
  end if;
  if exists (select from unnest(i_quantities) with ordinality as r(quantity, ord)
              where r.quantity is distinct from (select count(distinct n) from unnest(i_number_sets[r.ord]::bigint[]) n)
                 or r.quantity <> cardinality(i_number_sets[r.ord]::bigint[])) then
    raise exception 'a claim of activity % has not as many numbers as it says', i_terms.code using errcode = 'invalid_parameter_value';
  end if;
end $$;

-- One request after the other, each seeing what those before it did.
-- Parameters, result, locks, errors: as claim_submit_ruled.
create or replace function largesse.claim_submit_in_order(
  i_terms largesse.claim_terms, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[], i_number_sets text[], i_queued_at timestamptz[],
  i_segment int, i_remaining bigint, i_waiting bigint)
returns table (ord int, verdict text, claim_id bigint, status text, at timestamptz, detail text)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  v_remaining bigint := i_remaining;
  v_waiting   bigint := i_waiting;
  v_quantity  int;
begin
  for i in 1 .. cardinality(i_biz_ids) loop
    v_quantity := i_quantities[i];
    select r.verdict, r.claim_id, r.status, r.at, r.detail into verdict, claim_id, status, at, detail
      from largesse.claim_submit_ruled(i_terms, i_biz_ids[i:i], i_user_ids[i:i], i_quantities[i:i], i_channels[i:i], i_number_sets[i:i], i_queued_at[i:i],
             i_segment, v_remaining, v_waiting,
             largesse.claim_stock_decision(i_terms.waiting_max, v_waiting, v_remaining, v_quantity, v_quantity, 1)) r;
    if verdict = 'ACCEPTED' and status = 'waiting' then
      v_waiting := v_waiting + 1;
    elsif verdict = 'ACCEPTED' then
      v_remaining := v_remaining - v_quantity;
    end if;
    ord := i;
    return next;
  end loop;
end $$;
