-- SPDX-License-Identifier: Apache-2.0
-- What a new document would change of an activity, and what of that may not change any more.

-- Parameters: i_old: the row; i_new: activity_from_doc of the document i_doc, with reward_id as it is going to be; i_total: the total
-- now; i_limits. Result: paths of the members that differ, in the order of the document. Locks: none. Errors: none.
create or replace function largesse.activity_changes(i_old largesse.activity, i_new largesse.activity, i_doc jsonb, i_total bigint, i_limits jsonb) returns text[]
language sql stable
set search_path = largesse, pg_temp
as $$
  select array_remove(array[
    case when i_new.name <> i_old.name then 'name' end, case when i_new.kind <> i_old.kind then 'kind' end,
    case when i_new.start_at <> i_old.start_at then 'startAt' end, case when i_new.end_at <> i_old.end_at then 'endAt' end,
    case when i_new.time_zone <> i_old.time_zone then 'timeZone' end,
    case when i_new.event_code is distinct from i_old.event_code then 'eventCode' end,
    case when i_new.venue is distinct from i_old.venue then 'venue' end,
    case when i_new.attributes <> i_old.attributes then 'attributes' end,
    case when i_new.reward_id is distinct from i_old.reward_id then 'rewardCode' end,
    case when i_new.stock_follows_numbers <> i_old.stock_follows_numbers
           or not i_new.stock_follows_numbers and i_new.stock_total is distinct from i_total then 'stock.total' end,
    case when i_new.segments <> i_old.segments then 'stock.segments' end,
    case when exists ((select l ->> 'period', (l ->> 'count')::bigint from jsonb_array_elements(i_limits) l
                         except select l.period, l.max_count from largesse.activity_limit l where l.activity_id = i_old.id)
                      union all
                      (select l.period, l.max_count from largesse.activity_limit l where l.activity_id = i_old.id
                         except select l ->> 'period', (l ->> 'count')::bigint from jsonb_array_elements(i_limits) l)) then 'limits' end,
    case when i_new.needs_qualification <> i_old.needs_qualification then 'needsQualification' end,
    case when i_new.eligibility is distinct from i_old.eligibility then 'eligibility' end,
    case when i_new.channels is distinct from i_old.channels then 'channels' end,
    case when i_new.exclusive_group is distinct from i_old.exclusive_group then 'exclusiveGroup' end,
    case when i_new.points_cost is distinct from i_old.points_cost then 'pointsCost' end,
    case when (p.amount, p.currency) is distinct from ((i_doc #>> '{price,amount}')::bigint, i_doc #>> '{price,currency}') then 'price' end,
    case when p.provider is distinct from i_doc ->> 'paymentProvider' then 'paymentProvider' end,
    case when i_new.hold_for <> i_old.hold_for then 'holdFor' end,
    case when i_new.late_payment <> i_old.late_payment then 'latePayment' end,
    case when i_new.on_refused <> i_old.on_refused then 'onRefused' end,
    case when i_new.sign_up_again <> i_old.sign_up_again then 'signUpAgain' end,
    case when (i_new.waiting_max, i_new.accept_within) is distinct from (i_old.waiting_max, i_old.accept_within) then 'waitingList' end,
    case when i_new.rate_limit is distinct from i_old.rate_limit then 'rateLimit' end,
    case when i_new.intake <> i_old.intake then 'intake' end], null)
    from (select) n left join largesse.reward p on p.id = i_old.payment_id
$$;

-- Once published, claims may stand on what an activity was when they were made: what they hold by has to stay.
-- Parameters: as activity_changes; i_changed: what it gave; i_now. Result: null: all of it may change; else why not, for people, beginning with the path.
-- Locks: the caller holds the stock rows, so that no claim is judged meanwhile. Errors: none.
create or replace function largesse.activity_change_fault(
  i_old largesse.activity, i_new largesse.activity, i_total bigint, i_limits jsonb, i_changed text[], i_now timestamptz) returns text
language plpgsql stable
set search_path = largesse, pg_temp
as $$
declare
  v_fixed text;
begin
  if i_old.status = 'draft' then
    return case when 'kind' = any (i_changed) and exists (select from largesse.activity_number n where n.activity_id = i_old.id)
                then 'kind: numbers were added already' end;
  end if;
  if i_old.status in ('finished', 'archived') or i_now >= i_old.end_at then
    return i_changed[1] || ': the session has ended';
  end if;
  select c into v_fixed from unnest(i_changed) c
   where c in ('kind', 'timeZone', 'eventCode', 'stock.segments', 'needsQualification', 'exclusiveGroup', 'price', 'paymentProvider') limit 1;
  if v_fixed is not null then return v_fixed || ': cannot change after publishing'; end if;
  if 'startAt' = any (i_changed) and i_now >= i_old.start_at then
    return 'startAt: cannot change once the session runs';
  end if;
  if i_new.stock_follows_numbers <> i_old.stock_follows_numbers then
    return 'stock.total: a limit below the count of numbers cannot be added or taken away after publishing';
  end if;
  if not i_new.stock_follows_numbers and (i_new.stock_total is null) <> (i_total is null) then
    return 'stock.total: limited and unlimited cannot be exchanged after publishing';
  end if;
  if (i_new.waiting_max is null) <> (i_old.waiting_max is null) then
    return 'waitingList: cannot be added or taken away after publishing';
  end if;
  if i_limits @> '[{"period": "event"}]'
     <> exists (select from largesse.activity_limit l where l.activity_id = i_old.id and l.period = 'event') then
    return 'limits: a limit over the sessions of an event cannot be added or taken away after publishing';
  end if;
  return null;
end $$;
