-- SPDX-License-Identifier: Apache-2.0
-- The shape of activities: each member's type and range, what is not known, and what goes together. What may change when, and whether names exist, is
-- judged by activity_put.

-- The members of an activity in the order in which they are looked at, see doc_fault.sql. Parameters: i_is_of_numbers: numbers without a total are their own stock.
-- Result: the shape. Locks, errors: none.
create or replace function largesse.activity_shape(i_is_of_numbers boolean) returns jsonb
language sql immutable parallel safe
as $$
  select jsonb_set('[
    {"name": "code", "type": "any"},
    {"name": "name", "type": "text", "needed": true, "max": 128},
    {"name": "kind", "type": "word", "needed": true, "words": ["reward", "registration", "number", "exchange"], "rule": "must be reward, registration, number or exchange"},
    {"name": "startAt", "type": "time", "needed": true},
    {"name": "endAt", "type": "time", "needed": true},
    {"name": "timeZone", "type": "text", "needed": true, "max": 64},
    {"name": "eventCode", "type": "code"},
    {"name": "venue", "type": "text", "max": 256},
    {"name": "attributes", "type": "object"},
    {"name": "rewardCode", "type": "code"},
    {"name": "stock", "type": "object", "shape": [
      {"name": "total", "type": "int", "nullable": true, "min": 0, "max": 1000000000000},
      {"name": "segments", "type": "int", "min": 1, "max": 64}]},
    {"name": "limits", "type": "any"},
    {"name": "needsQualification", "type": "bool"},
    {"name": "eligibility", "type": "text", "filled": true, "max": 2000},
    {"name": "channels", "type": "any"},
    {"name": "exclusiveGroup", "type": "text", "filled": true, "max": 128},
    {"name": "pointsCost", "type": "int", "min": 1, "max": 1000000000},
    {"name": "price", "type": "money", "min": 1, "max": 1000000000000},
    {"name": "paymentProvider", "type": "text", "filled": true, "max": 128},
    {"name": "holdFor", "type": "span"},
    {"name": "latePayment", "type": "word", "words": ["reallocate", "refund", "review"], "rule": "must be reallocate, refund or review"},
    {"name": "onRefused", "type": "word", "words": ["fail", "review"], "rule": "must be fail or review"},
    {"name": "signUpAgain", "type": "bool"},
    {"name": "waitingList", "type": "object", "shape": [
      {"name": "max", "type": "int", "needed": true, "min": 1, "max": 1000000},
      {"name": "acceptWithin", "type": "span"}]},
    {"name": "rateLimit", "type": "object", "some": "must have perUser, total or both", "shape": [
      {"name": "perUser", "type": "object", "shape": [{"name": "rate", "type": "int", "needed": true, "min": 1, "max": 1000000}, {"name": "burst", "type": "int", "needed": true, "min": 1, "max": 1000000}]},
      {"name": "total", "type": "object", "shape": [{"name": "rate", "type": "int", "needed": true, "min": 1, "max": 1000000}, {"name": "burst", "type": "int", "needed": true, "min": 1, "max": 1000000}]}]},
    {"name": "intake", "type": "word", "words": ["direct", "queued"], "rule": "must be direct or queued"},
    {"name": "status", "type": "word", "max": 16, "words": ["draft", "published", "ongoing", "paused", "finished", "archived"],
      "rule": "must be draft, published, ongoing, paused, finished or archived"},
    {"name": "serverTime", "type": "any"},
    {"name": "availability", "type": "any"}]'::jsonb, '{10,shape,0,needed}', to_jsonb(not i_is_of_numbers))
$$;

-- What is wrong with the limits. Parameters: i_limits: the member; null: it is not there. Result: path and what is wrong; null: nothing. Locks, errors: none.
create or replace function largesse.activity_limits_fault(i_limits json) returns text
language plpgsql immutable parallel safe
set search_path = largesse, pg_temp
as $$
declare
  v_shape constant jsonb := '[{"name": "count", "type": "int", "needed": true, "min": 1, "max": 2147483647},
    {"name": "period", "type": "word", "needed": true, "max": 16, "words": ["total", "day", "week", "month", "event"], "rule": "must be total, day, week, month or event"}]';
begin
  if i_limits is null then return null; end if;
  if json_typeof(i_limits) <> 'array' then return 'limits: must be a list'; end if;
  if json_array_length(i_limits) > 5 then return 'limits: at most one of each period'; end if;
  return (select largesse.doc_fault(l.item, v_shape, format('limits[%s]', l.at - 1)) as fault
            from json_array_elements(i_limits) with ordinality l(item, at)
           where largesse.doc_fault(l.item, v_shape, format('limits[%s]', l.at - 1)) is not null order by l.at limit 1);
end $$;

-- What is wrong with the channels. Parameters, result: as activity_limits_fault. Locks, errors: none.
create or replace function largesse.activity_channels_fault(i_channels json) returns text
language plpgsql immutable parallel safe
set search_path = largesse, pg_temp
as $$
begin
  if i_channels is null then return null; end if;
  if json_typeof(i_channels) <> 'array' then return 'channels: must be a list'; end if;
  if json_array_length(i_channels) not between 1 and 64 then return 'channels: must name 1 to 64 channels'; end if;
  return (select format('channels[%s]: %s', f.at - 1, f.fault)
            from (select c.at, case when json_typeof(c.item) <> 'string' then 'must be a text'
                                    when char_length(largesse.doc_text(c.item)) not between 1 and 64 then 'must be 1 to 64 characters'
                                    when row_number() over (partition by largesse.doc_text(c.item) order by c.at) > 1 then 'is named twice' end
                    from json_array_elements(i_channels) with ordinality c(item, at)) f(at, fault)
           where f.fault is not null order by f.at limit 1);
end $$;

-- What of an activity does not go together. Parameters: i_doc: an object whose members are right each for itself. Result: path and what is wrong; null: nothing.
-- Locks, errors: none.
create or replace function largesse.activity_rules_fault(i_doc jsonb) returns text
language sql immutable parallel safe
as $$
  select f.fault
    from (select i_doc ->> 'kind' as kind, i_doc ? 'waitingList' as has_list, coalesce((i_doc #>> '{stock,segments}')::int, 1) > 1 as is_split) d
    cross join lateral (
      select o.at, o.member || ': goes with kind ' || o.kind || ' only'
        from (values (1, 'pointsCost', 'exchange'), (2, 'price', 'number'), (3, 'paymentProvider', 'number'), (4, 'holdFor', 'number'), (5, 'latePayment', 'number'),
                     (6, 'signUpAgain', 'registration'), (7, 'waitingList', 'registration')) o(at, member, kind)
       where i_doc ? o.member and d.kind <> o.kind
      union all select 11, 'rewardCode: is missing' where d.kind in ('reward', 'exchange') and not i_doc ? 'rewardCode'
      union all select 12, 'pointsCost: is missing' where d.kind = 'exchange' and not i_doc ? 'pointsCost'
      union all select 13, 'paymentProvider: is missing: a price has to be paid somewhere' where i_doc ? 'price' and not i_doc ? 'paymentProvider'
      union all select 14, 'price: is missing: there is nothing to be paid' where i_doc ? 'paymentProvider' and not i_doc ? 'price'
      union all select 15, 'stock: is missing' where not i_doc ? 'stock' and d.kind <> 'number'
      union all select 16, 'stock.segments: must be 1 for numbers' where d.is_split and d.kind = 'number'
      union all select 17, 'stock.segments: must be 1 where there is a waiting list' where d.is_split and d.has_list
      union all select 18, 'waitingList: goes with limited stock only' where d.has_list and i_doc #> '{stock,total}' = 'null'
      union all select 20 + l.at, format('limits[%s].period: event needs eventCode', l.at - 1)
        from jsonb_array_elements(i_doc -> 'limits') with ordinality l(item, at) where l.item ->> 'period' = 'event' and not i_doc ? 'eventCode') f(at, fault)
   order by f.at limit 1
$$;

-- What is wrong with an activity's document. Parameters: i_doc: JSON without names that are there twice and without NUL; i_code: the code in the path of the call, see
-- doc_own_code_fault. Result: path and what is wrong, of the first fault; null: nothing. Locks, errors: none.
create or replace function largesse.activity_doc_fault(i_doc json, i_code text) returns text
language plpgsql immutable parallel safe
set search_path = largesse, pg_temp
as $$
declare
  v_shape jsonb;
  v_upto  text[] := '{}';
  v_fault text;
begin
  if json_typeof(i_doc) <> 'object' then return 'must be an object'; end if;
  v_shape := largesse.activity_shape(coalesce(i_doc ->> 'kind' = 'number', false));
  v_fault := coalesce(
    largesse.doc_own_code_fault(i_doc, 'code', i_code),
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[0 to 4]'), ''),
    case when largesse.doc_time(i_doc ->> 'endAt') <= largesse.doc_time(i_doc ->> 'startAt') then 'endAt: must be after startAt' end,
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[5 to 10]'), ''),
    largesse.activity_limits_fault(i_doc -> 'limits'),
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[12 to 13]'), ''),
    largesse.activity_channels_fault(i_doc -> 'channels'),
    largesse.doc_members_fault(i_doc, jsonb_path_query_array(v_shape, '$[15 to last]'), ''));
  return coalesce(v_fault, largesse.activity_rules_fault(i_doc::jsonb), largesse.doc_unknown_fault(i_doc, v_shape, ''));
end $$;

-- A document as activity_put takes it: with its code, and instants in UTC. Parameters: as activity_doc_fault, which found nothing. Result: the document. Locks, errors: none.
create or replace function largesse.activity_doc(i_doc json, i_code text) returns jsonb
language sql stable parallel safe
set search_path = largesse, pg_temp
as $$
  select i_doc::jsonb - '{serverTime,availability}'::text[]
         || jsonb_build_object('code', coalesce(i_code, i_doc ->> 'code'), 'startAt', largesse.time_text(largesse.doc_time(i_doc ->> 'startAt')),
                               'endAt', largesse.time_text(largesse.doc_time(i_doc ->> 'endAt')))
$$;

-- Whether an activity's payment provider may take payments. Parameters: i_provider; i_known: all that are configured (none: anybody may); i_charging: those of them that
-- can charge. Result: path and what is wrong; null: nothing. Locks, errors: none.
create or replace function largesse.activity_provider_fault(i_provider text, i_known text[], i_charging text[]) returns text
language sql immutable parallel safe
as $$
  select case when cardinality(i_known) = 0 or i_provider is null or i_provider = any (i_charging) then null
              when i_provider = any (i_known) then 'paymentProvider: takes no payments: it has no charge under fulfiller.providers'
              else 'paymentProvider: is not configured under fulfiller.providers' end
$$;

-- Checks a document and puts it. Parameters: i_doc, i_code as activity_doc_fault; i_known, i_charging as activity_provider_fault; i_actor, i_version, i_reason as activity_put.
-- Result: as activity_put, and the code. Locks: as activity_put. Errors: none.
create or replace function largesse.activity_doc_put(i_doc json, i_code text, i_known text[], i_charging text[], i_actor text, i_version bigint, i_reason text)
returns table (outcome text, detail text, changed text[], version bigint, code text)
language plpgsql volatile security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  detail := coalesce(largesse.activity_doc_fault(i_doc, i_code), largesse.activity_provider_fault(i_doc ->> 'paymentProvider', i_known, i_charging));
  if detail is not null then
    outcome := 'INVALID_REQUEST'; return next; return;
  end if;
  return query select p.outcome, p.detail, p.changed, p.version, coalesce(i_code, i_doc ->> 'code') from largesse.activity_put(largesse.activity_doc(i_doc, i_code), i_actor, i_version, i_reason) p;
end $$;
