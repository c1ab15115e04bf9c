-- SPDX-License-Identifier: Apache-2.0
-- What a night's report says of money, calls, times and what was given back, and how two nights compare. Field cases B118, B120, B123.
create schema probe;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
set time zone 'UTC';
create table probe.clock (at timestamptz not null);
insert into probe.clock values ('2025-12-28 12:00Z');
grant usage on schema probe to public;
grant select on probe.clock to public;
create or replace function largesse.clock_now() returns timestamptz language sql volatile parallel safe as $$ select at from probe.clock $$;
create function probe.clock_set(i_at timestamptz) returns void language sql as $$ update probe.clock set at = i_at $$;
-- Makes the report of a date in the zone of these nights, whose audit finds these keys; the document.
create function probe.night(i_date date, i_again boolean default false, i_keys text[] default '{}') returns jsonb language plpgsql as $$
declare
  v_taken record;
  v_run   bigint;
begin
  select * into v_taken from largesse.night_take(i_date, 'America/Vancouver', '02:00', 7, 'probe', '1 minute', i_again);
  if v_taken.outcome <> 'taken' then raise exception '%: %', i_date, v_taken.outcome; end if;
  v_run := (select run_id from largesse.audit_begin('night', i_date, null, true, 'America/Vancouver'));
  perform largesse.finding_upsert(i_keys, array_fill('stock_not_matching_claims'::text, array[cardinality(i_keys)]),
    array_fill((select min(id) from largesse.activity), array[cardinality(i_keys)]), null, array_fill('1'::text, array[cardinality(i_keys)]), array_fill('2'::text, array[cardinality(i_keys)]), null, null, null);
  perform largesse.audit_end(v_run, (select count(*) from largesse.finding f where f.state <> 'gone'));
  update largesse.audit_run set reached = 1000000000 where id = v_run;
  perform largesse.night_prepare(i_date);
  while largesse.night_step(i_date) loop end loop;
  return (select f.doc::jsonb from largesse.night_finish(i_date, v_taken.token, v_run) f);
end $$;

select largesse.reward_put('yen', 'shop', 500, 'JPY', '{}'), largesse.reward_put('dollar', 'shop', 500, 'USD', '{}'), largesse.reward_put('dinar', 'shop', 500, 'KWD', '{}');
do $$
declare
  v_code text;
begin
  foreach v_code in array array['yen', 'dollar', 'dinar'] loop
    perform largesse.activity_put(jsonb_build_object('code', v_code, 'name', v_code, 'kind', 'reward', 'timeZone', 'America/Vancouver', 'rewardCode', v_code,
      'startAt', '2025-12-28T00:00:00-08:00', 'endAt', '2026-03-01T00:00:00-08:00', 'stock', '{"total": 1000}'::jsonb, 'limits', '[]'::jsonb), 'test', null);
    perform largesse.activity_action(v_code, 'publish', 'test', null, null);
  end loop;
end $$;
insert into largesse.reward (code, provider, amount, currency, created_at, purpose) select 'price', 'bank', 500, c, '2025-12-28Z', 'payment' from unnest(array['JPY', 'USD', 'KWD']) c;
-- A claim as it is once it has been paid for and delivered; both are given back where that is said.
create function probe.claim(i_code text, i_user bigint, i_made timestamptz, i_delay interval, i_back timestamptz default null) returns void language sql as $$
  insert into largesse.claim (activity_id, user_id, created_at, updated_at, quantity, reward_id, payment_id, biz_id, status, payment, paid_at, succeeded_at, refund, refund_since, refunded_at,
                              reversal, reversal_since, reversed_at, ended_at)
    select a.id, i_user, i_made, coalesce(i_back, i_made + i_delay), 1, a.reward_id, p.id, 'b' || i_user, case when i_back is null then 'succeeded' else 'rolled_back' end, 'done', i_made,
           i_made + i_delay, case when i_back is not null then 'done' end, i_back, i_back, case when i_back is not null then 'done' end, i_back, i_back, i_back
      from largesse.activity a join largesse.reward w on w.id = a.reward_id join largesse.reward p on p.purpose = 'payment' and p.currency = w.currency where a.code = i_code;
  insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
    select c.activity_id, c.id, 1, 'deliver', 'shop', i_made, extract(epoch from i_delay) * 1000000, 'done' from largesse.claim c where c.user_id = i_user
$$;

-- B120: 31 December ends at 08:00:00Z of 1 January in Vancouver.
select probe.claim('yen', 1, '2026-01-01 07:59:59Z', '200 ms'), probe.claim('yen', 2, '2026-01-01 08:00:00Z', '200 ms');
select probe.clock_set('2026-01-02 12:00Z');
create temporary table nights as select d::date as day, probe.night(d::date) as doc from generate_series(date '2025-12-31', '2026-01-01', interval '1 day') d;
select probe.expect('B120 ' || day, doc #>> '{report,totals,claims,count}', '1') from nights;
select probe.expect('B120 from', doc #>> '{report,from}', '2026-01-01T08:00:00.000000Z') from nights where day = '2026-01-01';

-- B123: minor units are those of the currency.
select probe.claim('yen', 11, '2026-01-05 20:00Z', '100 ms'), probe.claim('dollar', 12, '2026-01-05 20:00Z', '200 ms'), probe.claim('dinar', 13, '2026-01-05 20:00Z', '900 ms');
select probe.clock_set('2026-01-06 12:00Z');
insert into nights select '2026-01-05', probe.night('2026-01-05');
select probe.expect('B123', (select string_agg((i ->> 'currency') || ' ' || (i ->> 'amount'), ', ' order by i ->> 'currency') from nights n, jsonb_array_elements(n.doc #> '{report,totals,money,paid}') i
                              where n.day = '2026-01-05'), 'JPY 500, KWD 500, USD 500');
select probe.expect('times', doc #>> '{report,timeToDelivery}', '{"count": 3, "maxMs": 900, "p50Ms": 200, "p90Ms": 900, "p99Ms": 900}') from nights where day = '2026-01-05';
select probe.expect('times of one', (select a #>> '{timeToDelivery,p99Ms}' from jsonb_array_elements(doc #> '{report,activities}') a where a ->> 'code' = 'dollar'), '200') from nights where day = '2026-01-05';
select probe.expect('calls', doc #>> '{report,providers}',
  '[{"calls": 3, "steps": {"deliver": 3}, "latency": {"count": 3, "maxMs": 900, "p50Ms": 200, "p90Ms": 900, "p99Ms": 900}, "outcomes": {"done": 3}, "provider": "shop"}]') from nights where day = '2026-01-05';

-- B118: paid on Monday, paid back on Thursday: linked to Monday's claim, and over both the sum is nothing.
create temporary table monday as select business_date, report from largesse.night where business_date = '2026-01-05';
update largesse.claim set status = 'rolled_back', refund = 'done', refund_since = '2026-01-08 20:00Z', refunded_at = '2026-01-08 20:00Z', reversal = 'done', reversal_since = '2026-01-08 19:00Z',
  reversed_at = '2026-01-08 19:00Z', ended_at = '2026-01-08 19:00Z', updated_at = '2026-01-08 20:00Z' where user_id = 12;
select probe.clock_set('2026-01-09 12:00Z');
insert into nights select '2026-01-08', probe.night('2026-01-08');
select probe.expect('B118 linked', (select string_agg(concat_ws(' ', i ->> 'what', i ->> 'amount', i ->> 'currency', i ->> 'madeOn', (i ->> 'claimId') = c.activity_id || '-' || c.id), '; ' order by i ->> 'what')
                                      from nights n cross join jsonb_array_elements(n.doc #> '{report,returns,items}') i cross join largesse.claim c where n.day = '2026-01-08' and c.user_id = 12),
  'refunded -500 USD 2026-01-05 t; reversed -500 USD 2026-01-05 t');
select probe.expect('B118 sums', doc #>> '{report,returns,byDate,0}',
  '{"what": "refunded", "count": 1, "amount": -500, "madeOn": "2026-01-05", "currency": "USD", "provider": "bank", "quantity": 1}') from nights where day = '2026-01-08';
select probe.expect('B118 Monday stays', (probe.night('2026-01-05', true) #>> '{moment,figuresUnchanged}')
  || (select (n.report = m.report)::text from largesse.night n join monday m using (business_date)), 'truetrue');
select probe.expect('B118 sum over both', (select string_agg(s.of || ' ' || s.amount, ', ' order by s.of)
  from (select i ->> 'of' as of, sum((i ->> 'amount')::bigint) as amount from nights n cross join jsonb_array_elements(n.doc #> '{report,totals,net}') i
         where n.day in ('2026-01-05', '2026-01-08') and i ->> 'currency' = 'USD' group by 1) s), 'deliveries 0, payments 0');
-- The day itself is told the same way.
select probe.claim('dinar', 14, '2026-01-08 21:00Z', '100 ms', '2026-01-08 22:00Z');
select probe.expect('edited since', probe.night('2026-01-08', true) #>> '{moment,figuresUnchanged}', 'false');

-- A report of a version that made fewer figures: those that it has are compared, and it stays.
update largesse.night set shape = 1, report = (report::jsonb - 'providers' - 'returns' - 'timeToDelivery')::text where business_date = '2026-01-01';
select probe.expect('older', probe.night('2026-01-01', true) #>> '{moment,figuresUnchanged}', 'true');
update largesse.night set report = replace(report, '500', '501') where business_date = '2026-01-01';
select probe.expect('older, edited', probe.night('2026-01-01', true) #>> '{moment,figuresUnchanged}', 'false');

-- --- what was found, and since when; the log as an anchor
select probe.clock_set('2026-01-10 12:00Z');
insert into nights select '2026-01-09', probe.night('2026-01-09', false, array['k1', 'k2']);
select probe.expect('since', doc #>> '{moment,since}', '{"date": "2026-01-08", "gone": 0, "opened": 2}') from nights where day = '2026-01-09';
select probe.clock_set('2026-01-10 13:00Z');
update largesse.finding set state = 'gone', gone_at = '2026-01-10 13:00Z' where key = 'k1';
select largesse.log_append('cli:probe', 'night.run', '2026-01-10', 'why', '{}');
select probe.claim('yen', 21, '2026-01-10 20:00Z', '100 ms'), probe.claim('yen', 22, '2026-01-10 20:00Z', '100 ms');
select probe.clock_set('2026-01-11 12:00Z');
insert into nights select '2026-01-10', probe.night('2026-01-10', false, array['k2', 'k3']);
select probe.expect('since then', doc #>> '{moment,since}', '{"date": "2026-01-09", "gone": 1, "opened": 1}') from nights where day = '2026-01-10';
select probe.expect('log', doc #>> '{moment,log}', (select jsonb_build_object('seq', h.seq, 'hash', encode(h.hash, 'hex'))::text from largesse.operator_log_head h)) from nights where day = '2026-01-10';

-- --- a provider whose statements could not be matched: the night is not clean, and says why
update largesse.finding set state = 'gone', gone_at = '2026-01-11 12:30Z' where state <> 'gone';
select probe.clock_set('2026-01-12 12:00Z');
select probe.expect('a clean night', probe.night('2026-01-11') ->> 'clean', 'true');
select largesse.statement_match_failed('shop', 'canceling statement due to statement timeout');
create temp table unmatched as select probe.night('2026-01-11', true) as doc;
select probe.expect('not clean', concat_ws(' ', doc ->> 'clean', doc ->> 'failed', doc #>> '{moment,clean}'), 'false 1 false') from unmatched;
select probe.expect('why', doc #>> '{moment,statementsNotMatched}',
  '[{"at": "2026-01-12T12:00:00.000000Z", "fault": "canceling statement due to statement timeout", "provider": "shop"}]') from unmatched;
delete from largesse.statement_fault;
select probe.expect('matched since', concat_ws(' ', d ->> 'clean', d ->> 'failed', d #>> '{moment,statementsNotMatched}'), 'true 0') from (select probe.night('2026-01-11', true) as d) n;
delete from largesse.night where business_date = '2026-01-11';

-- --- one night against another
set role largesse_reconciler;
create function pg_temp.compared(i_date date, i_with date) returns jsonb language sql as $$ select doc::jsonb from largesse.night_compare(i_date, i_with) $$;
create function pg_temp.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
select pg_temp.expect('the one before', pg_temp.compared('2026-01-10', null) ->> 'with', '2026-01-09');
select pg_temp.expect('claims', pg_temp.compared('2026-01-10', '2026-01-05') #>> '{totals,claims}', '{"after": 2, "before": 3, "change": -1, "percent": -33.3}');
select pg_temp.expect('from nothing', pg_temp.compared('2026-01-10', null) #>> '{totals,claims}', '{"after": 2, "before": 0, "change": 2}');
select pg_temp.expect('money', pg_temp.compared('2026-01-10', '2026-01-05') #>> '{money,0}',
  '{"what": "delivered", "amount": {"after": 1000, "before": 500, "change": 500, "percent": 100.0}, "currency": "JPY", "provider": "shop"}');
select pg_temp.expect('activity of one night alone', (select concat_ws(' ', a ->> 'code', a #>> '{figures,claims}') from jsonb_array_elements(pg_temp.compared('2026-01-10', '2026-01-05') -> 'activities') a where a ->> 'code' = 'dinar'),
  'dinar {"after": 0, "before": 1, "change": -1, "percent": -100.0}');
select pg_temp.expect('findings', (select string_agg(concat_ws(' ', i ->> 'key', i ->> 'state'), ', ') from jsonb_array_elements(pg_temp.compared('2026-01-10', '2026-01-09') #> '{findings,items}') i), 'k3 opened, k2 open, k1 gone');
select pg_temp.expect('no other', (select outcome from largesse.night_compare('2025-12-31', null)), 'no_other');
select pg_temp.expect('no report', (select outcome from largesse.night_compare('2025-11-30', '2026-01-05')), 'no_report');
