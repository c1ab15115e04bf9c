-- SPDX-License-Identifier: Apache-2.0
-- The activity that a document asks for, with the built-in values of what it leaves out.
-- Parameters: i_doc as activity_put describes it. Result: a row without id, status, version, payment_id and instants; stock_total as given; reward_id: the
-- newest version of the reward. Locks: none. Errors: none.
create or replace function largesse.activity_from_doc(i_doc jsonb) returns largesse.activity
language plpgsql stable
set search_path = largesse, pg_temp
as $$
declare
  v largesse.activity;
begin
  v.code := i_doc ->> 'code'; v.name := i_doc ->> 'name'; v.kind := i_doc ->> 'kind';
  v.start_at := i_doc ->> 'startAt'; v.end_at := i_doc ->> 'endAt'; v.time_zone := i_doc ->> 'timeZone';
  v.event_code := i_doc ->> 'eventCode'; v.venue := i_doc ->> 'venue'; v.attributes := coalesce(i_doc -> 'attributes', '{}');
  select max(r.id) into v.reward_id from largesse.reward r where r.code = i_doc ->> 'rewardCode' and r.purpose = 'delivery';
  v.stock_total := i_doc #>> '{stock,total}';
  v.segments := coalesce(i_doc #>> '{stock,segments}', '1');
  v.stock_follows_numbers := v.kind = 'number' and v.stock_total is null;
  v.channels := case when i_doc ? 'channels' then array(select jsonb_array_elements_text(i_doc -> 'channels')) end;
  v.eligibility := i_doc ->> 'eligibility';
  v.needs_qualification := coalesce(i_doc ->> 'needsQualification', 'false');
  v.exclusive_group := i_doc ->> 'exclusiveGroup';
  v.points_cost := i_doc ->> 'pointsCost';
  v.hold_for := coalesce(largesse.span_interval(i_doc ->> 'holdFor'), interval '15 minutes');
  v.late_payment := coalesce(i_doc ->> 'latePayment', 'reallocate');
  v.on_refused := coalesce(i_doc ->> 'onRefused', 'fail');
  v.sign_up_again := coalesce(i_doc ->> 'signUpAgain', 'true');
  v.waiting_max := i_doc #>> '{waitingList,max}';
  v.accept_within := largesse.span_interval(i_doc #>> '{waitingList,acceptWithin}');
  v.rate_limit := i_doc -> 'rateLimit';
  v.intake := coalesce(i_doc ->> 'intake', 'direct');
  return v;
end $$;

-- What the database knows to be wrong with a document. Parameters: i_doc; i_new: activity_from_doc of it; i_limits: its limits, or those it means by leaving them
-- out. Result: null: nothing; else for people, beginning with the path at fault. Locks: none. Errors: none.
create or replace function largesse.activity_fault(i_doc jsonb, i_new largesse.activity, i_limits jsonb) returns text
language plpgsql stable
set search_path = largesse, pg_temp
as $$
declare
  v_fault text;
begin
  if not largesse.time_zone_is_known(i_new.time_zone) then return 'timeZone: not an IANA time zone'; end if;
  if (select count(distinct l ->> 'period') from jsonb_array_elements(i_limits) l) <> jsonb_array_length(i_limits) then
    return 'limits: a period is named twice';
  end if;
  if i_new.event_code is null and i_limits @> '[{"period": "event"}]' then
    return 'limits: a limit over the sessions of an event needs eventCode';
  end if;
  if i_new.end_at <= i_new.start_at then return 'endAt: must be after startAt'; end if;
  if i_new.event_code is not null and not exists (select from largesse.event e where e.code = i_new.event_code) then
    return 'eventCode: there is no event ' || i_new.event_code;
  end if;
  if i_new.reward_id is null and (i_new.kind in ('reward', 'exchange') or i_doc ? 'rewardCode') then
    return 'rewardCode: there is no such reward';
  end if;
  v_fault := largesse.eligibility_fault(i_new.eligibility);
  return 'eligibility: ' || v_fault;  -- null of null
end $$;

-- Terms of payment: a version for each pair of price and provider that an activity has had.
-- Parameters: i_code of the activity; i_doc with price {amount, currency} and paymentProvider, or neither. Result: the id of the terms; null: nothing is to be paid.
-- Locks: the caller holds the activity's. Errors: 23514 for terms that the table refuses.
create or replace function largesse.payment_terms_put(i_code text, i_doc jsonb) returns int
language plpgsql volatile
set search_path = largesse, pg_temp
as $$
declare
  v_id int;
begin
  if not i_doc ? 'price' then return null; end if;
  select r.id into v_id from largesse.reward r
   where r.code = i_code and r.purpose = 'payment' and r.provider = i_doc ->> 'paymentProvider'
     and r.amount = (i_doc #>> '{price,amount}')::bigint and r.currency = i_doc #>> '{price,currency}'
   order by r.id desc limit 1;
  if not found then
    insert into largesse.reward (code, provider, amount, currency, purpose, created_at)
      values (i_code, i_doc ->> 'paymentProvider', (i_doc #>> '{price,amount}')::bigint, i_doc #>> '{price,currency}', 'payment', largesse.clock_now())
      returning id into v_id;
  end if;
  return v_id;
end $$;

-- Lays the stock of a draft out anew over its segments, as even as it can be. Parameters: i_activity_id, i_total (null: unlimited), i_segments. Result: none.
-- Locks: the stock rows. Errors: none.
create or replace function largesse.stock_lay_out(i_activity_id bigint, i_total bigint, i_segments int) returns void
language plpgsql volatile
set search_path = largesse, pg_temp
as $$
begin
  delete from largesse.stock s where s.activity_id = i_activity_id and s.segment >= i_segments;
  insert into largesse.stock as s (activity_id, segment, remaining)
    select i_activity_id, n, i_total / i_segments + case when n < i_total % i_segments then 1 else 0 end from generate_series(0, i_segments - 1) n
    on conflict (activity_id, segment) do update set remaining = excluded.remaining;
end $$;
