-- SPDX-License-Identifier: Apache-2.0
-- Reviews: their figures are those of the rows and of the audit's equations, the curve of the stock ends where the stock stands, and an event is the sum of its activities.
create schema probe;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
set time zone 'UTC';
create table probe.clock (at timestamptz not null);
insert into probe.clock values ('2026-05-01 00:00Z');
grant usage on schema probe to public;
grant select on probe.clock to public;
create or replace function largesse.clock_now() returns timestamptz language sql volatile parallel safe as $$ select at from probe.clock $$;
create function probe.clock_set(i_at timestamptz) returns void language sql as $$ update probe.clock set at = i_at $$;
-- As a caller makes it: one statement for each part.
create function probe.review(i_what text, i_code text) returns jsonb language plpgsql as $$
declare
  v_begin record;
  v_parts text[] := '{}';
begin
  for v_begin in select * from largesse.review_begin(i_what, i_code) loop
    exit when v_begin.activity_id is null;
    v_parts := v_parts || array(select largesse.review_part(v_begin.activity_id, p, v_begin.from_at, v_begin.width, v_begin.buckets) from generate_series(1, 4) p);
  end loop;
  return (select doc::jsonb from largesse.review_end(i_what, i_code, v_begin.from_at, v_begin.width, v_begin.buckets, v_parts));
end $$;

select largesse.event_put('fair', 'Fair', 'UTC'), largesse.event_put('other', 'Other', 'UTC');
select largesse.reward_put('voucher', 'shop', 250, 'EUR', '{}');
create function probe.activity(i_code text, i_doc jsonb) returns void language plpgsql as $$
begin
  perform largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'timeZone', 'UTC', 'eventCode', 'fair', 'startAt', '2026-05-01T01:00:00Z', 'endAt', '2026-05-01T03:00:00Z',
    'limits', '[{"count": 2, "period": "total"}]'::jsonb) || i_doc, 'test', null);
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
end $$;
select probe.activity('gifts', '{"kind": "reward", "rewardCode": "voucher", "stock": {"total": 50}}'),
       probe.activity('places', '{"kind": "registration", "stock": {"total": 3}, "waitingList": {"max": 10, "acceptWithin": "10m"}, "startAt": "2026-05-01T02:00:00Z"}'),
       probe.activity('endless', '{"kind": "reward", "rewardCode": "voucher", "stock": {"total": null}, "eventCode": "other"}');
create function probe.id(i_code text) returns bigint language sql as $$ select id from largesse.activity where code = i_code $$;
create function probe.submit(i_code text, i_user bigint, i_at timestamptz, i_quantity int default 1) returns text language plpgsql as $$
declare
  v_verdict text;
begin
  perform probe.clock_set(i_at);
  perform largesse.activity_advance(100);
  select s.verdict into v_verdict from largesse.claim_submit(probe.id(i_code), array[i_code || i_user], array[i_user], array[i_quantity], array[null::text], '5 s') s where s.ord = 1;
  return v_verdict;
end $$;
create function probe.move(i_code text, i_user bigint, i_at timestamptz, i_to text, i_failure text default null) returns void language plpgsql as $$
begin
  perform probe.clock_set(i_at);
  perform m.* from largesse.claim c, largesse.claim_move(array[c.activity_id], array[c.id], i_to, null, array[i_failure], null) m where c.user_id = i_user and c.activity_id = probe.id(i_code);
end $$;

-- Twenty of one unit and two of two, over an hour; most delivered half a second later, some refused by the provider, one later rolled back; stock added once.
select probe.expect('submit ' || i, probe.submit('gifts', i, '2026-05-01 01:00Z'::timestamptz + i * interval '3 min'), 'ACCEPTED') from generate_series(1, 20) i;
select probe.submit('gifts', 21, '2026-05-01 02:10Z', 2), probe.submit('gifts', 22, '2026-05-01 02:20Z', 2);
select probe.move('gifts', i, '2026-05-01 01:00:00.5Z'::timestamptz + i * interval '3 min', 'succeeded') from generate_series(1, 15) i;
select probe.move('gifts', i, '2026-05-01 02:30Z', 'failed', case i when 16 then 'CAP' else 'UNKNOWN_USER' end) from generate_series(16, 18) i;
select probe.move('gifts', 1, '2026-05-01 02:40Z', 'rolled_back', 'TAKEN_BACK');
select probe.clock_set('2026-05-01 02:00Z');
select largesse.stock_adjust('gifts', 'more', 10, 'more', 'test');
insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
  select c.activity_id, c.id, g, case when c.user_id = 2 and g = 2 then 'inquire' else 'deliver' end, 'shop', c.created_at, c.user_id * 1000 + 1, case when g = 1 then 'retry' else 'done' end
    from largesse.claim c, generate_series(1, 3) g where c.activity_id = probe.id('gifts') and (g = 1 or c.user_id <= 2);
insert into largesse.dead_letter (activity_id, claim_id, provider, cause, fingerprint, opened_at) select c.activity_id, c.id, 'shop', 'attempts', 'attempts: # tries', '2026-05-01 02:00Z' from largesse.claim c where c.user_id in (19, 20);
select largesse.refusal_add(array[probe.id('gifts'), probe.id('gifts')], array['LIMIT_REACHED', 'NOT_STARTED'], array[4, 2]);
-- Three places, two who wait; one gives his place back.
select probe.submit('places', i, '2026-05-01 02:01Z'::timestamptz + i * interval '1 min') from generate_series(1, 5) i;
do $$ begin
  perform probe.clock_set('2026-05-01 02:20Z');
  perform k.* from largesse.claim c, largesse.claim_cancel(c.activity_id, c.id, 'test') k where c.biz_id = 'places1';
end $$;
select probe.submit('endless', 7, '2026-05-01 02:50Z');

select probe.clock_set('2026-05-01 04:00Z');
create temporary table review as select probe.review('activity', 'gifts') as gifts, probe.review('activity', 'places') as places, probe.review('activity', 'endless') as endless, probe.review('event', 'fair') as fair;

-- --- an activity
select probe.expect('counts', gifts -> 'claims' #>> '{}', jsonb_build_object('count', 22, 'quantity', 24, 'underReview', 0, 'byStatus',
  '{"failed": {"count": 3, "quantity": 3}, "issuing": {"count": 4, "quantity": 6}, "succeeded": {"count": 14, "quantity": 14}, "rolled_back": {"count": 1, "quantity": 1}}'::jsonb)::text) from review;
select probe.expect('stock', gifts ->> 'stock', '{"held": 20, "total": 50, "remaining": 40, "difference": 0, "adjustments": 10}') from review;
select probe.expect('buckets', gifts ->> 'bucketSeconds' || ' ' || jsonb_array_length(gifts -> 'series'), '300 24') from review;
select probe.expect('curve', (select string_agg(s ->> 'remaining', ' ' order by n) from jsonb_array_elements(gifts -> 'series') with ordinality as e(s, n) where n in (1, 2, 12, 13, 15, 19, 24)),
  '49 47 31 40 38 39 40') from review;
select probe.expect('claims over time', (select sum((s ->> 'claims')::int) || ' ' || max((s ->> 'succeeded')::int) from jsonb_array_elements(gifts -> 'series') s), '22 2') from review;
select probe.expect('times', gifts ->> 'timeToDelivery', '{"count": 15, "maxMs": 500, "p50Ms": 500, "p90Ms": 500, "p99Ms": 500}') from review;
-- Claim 1: two deliveries after the first; claim 2: an inquiry and one delivery after the first.
select probe.expect('calls', (gifts #>> '{providers,0,calls}') || ' ' || (gifts #>> '{providers,0,repeated}') || ' ' || (gifts #>> '{providers,0,steps}') || ' ' || (gifts #>> '{providers,0,latency,maxMs}'),
  '26 3 {"deliver": 25, "inquire": 1} 23') from review;
select probe.expect('causes', gifts ->> 'causes', '{"failures": [{"code": "UNKNOWN_USER", "count": 2}, {"code": "CAP", "count": 1}, {"code": "TAKEN_BACK", "count": 1}], '
  || '"deadLetters": [{"open": 2, "cause": "attempts", "count": 2, "provider": "shop", "fingerprint": "attempts: # tries"}]}') from review;
select probe.expect('limits', gifts #>> '{limits,0}', '{"max": 2, "users": 18, "period": "total", "atLimit": 2}') from review;
select probe.expect('refusals', gifts ->> 'refused' || ' ' || (gifts ->> 'refusals'), '6 {"NOT_STARTED": 2, "LIMIT_REACHED": 4}') from review;
select probe.expect('money', gifts #>> '{money,delivered,0}', '{"count": 15, "amount": 3750, "currency": "EUR", "provider": "shop", "quantity": 15}') from review;
-- A waiting list: whoever waits holds nothing, and who followed holds since then.
select probe.expect('places', places ->> 'stock' || ' ' || (places #>> '{claims,byStatus,waiting,count}'), '{"held": 3, "total": 3, "remaining": 0, "difference": 0, "adjustments": 0} 1') from review;
select probe.expect('its curve ends where the stock stands', places #>> '{after,remaining}', '0') from review;
select probe.expect('unlimited', concat_ws(' ', endless ->> 'held', endless ? 'stock', endless #> '{series,0}' ? 'remaining'), '1 f f') from review;

-- --- what the audit says is what the review says, also where something is wrong
create function probe.agrees(i_code text) returns text language sql as $$
  select ((r ->> 'held')::bigint = (select coalesce(sum(c.quantity), 0) from largesse.claim c where c.activity_id = probe.id(i_code)
                                     and c.status in (select t.status from largesse.claim_state t where t.holds_stock)))::text
      || ' ' || ((r #>> '{stock,difference}')::bigint <> 0)::text
      || ' ' || (exists (select from largesse.audit_run('stock_not_matching_claims', probe.id(i_code))))::text
      || ' ' || ((r #>> '{stock,total}')::bigint + (r #>> '{stock,adjustments}')::bigint - (r ->> 'held')::bigint = (r #>> '{after,remaining}')::bigint)::text
    from probe.review('activity', i_code) r
$$;
select probe.expect('equation of ' || c, probe.agrees(c), 'true false false true') from unnest(array['gifts', 'places']) c;
update largesse.stock set remaining = remaining - 1 where activity_id = probe.id('gifts');
select probe.expect('a unit is gone', probe.agrees('gifts') || ' ' || (probe.review('activity', 'gifts') #>> '{stock,difference}'), 'true true true true -1');
update largesse.stock set remaining = remaining + 1 where activity_id = probe.id('gifts');

-- --- an event is the sum of its activities
select probe.expect('sum', fair #>> '{claims,count}' || ' ' || (fair ->> 'stock') || ' ' || jsonb_array_length(fair -> 'sessions'),
  '27 {"held": 23, "total": 53, "remaining": 40, "difference": 0, "adjustments": 10} 2') from review;
select probe.expect('sessions', (select string_agg(concat_ws(' ', s ->> 'code', s ->> 'claims', s ->> 'refused', s #>> '{stock,remaining}'), ', ' order by n) from jsonb_array_elements(fair -> 'sessions') with ordinality as e(s, n)),
  'gifts 22 6 40, places 5 0 0') from review;
select probe.expect('none such', (select count(*) from largesse.review_begin('event', 'none'))::text || (select count(*) from largesse.review_begin('activity', 'none')), '00');
select largesse.event_put('empty', 'Empty', 'UTC');
select probe.expect('without activities', probe.review('event', 'empty') #>> '{claims,count}', '0');

-- Durations to three digits, never too low.
select probe.expect('ms of ' || us, largesse.review_ms(us)::text, ms)
  from (values (0::bigint, '0'), (1, '1'), (1000, '1'), (1001, '2'), (999000, '999'), (999001, '1000'), (1000001, '1010'), (1534000, '1540'), (9990001, '10000'), (12345678, '12400'), (99900001, '100000'), (3600000000, '3600000'), (3600000001, '3610000')) v(us, ms);
select probe.expect('pieces of ' || s, largesse.review_width(s)::text, w) from (values (60::bigint, '1'), (73, '5'), (3600, '60'), (4320, '60'), (4321, '300'), (86400, '1800'), (2592000, '43200')) v(s, w);
