-- SPDX-License-Identifier: Apache-2.0
-- Days, weeks and months where the activity is: local midnight in Asia/Shanghai, both changes of the clocks in Europe/Berlin and in America/Santiago (where they
-- happen at midnight, so that a day has no midnight), the 29th of February. B27, B28, B31.
\ir ../support/test_clock.sql
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;

-- The period that contains an instant, and when the next one begins.
select probe.expect(period || ' in ' || zone || ' at ' || at, largesse.period_start(period, at::timestamptz, zone) || ' until ' ||
    to_char(largesse.period_reset(period, at::timestamptz, zone) at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), starts || ' until ' || resets) from (values
  ('day', 'Asia/Shanghai', '2026-05-01 15:59:59.999999Z', '2026-05-01', '2026-05-01 16:00'),
  ('day', 'Asia/Shanghai', '2026-05-01 16:00Z', '2026-05-02', '2026-05-02 16:00'),
  ('week', 'Asia/Shanghai', '2026-05-03 15:59:59Z', '2026-04-27', '2026-05-03 16:00'),
  ('week', 'Asia/Shanghai', '2026-05-03 16:00Z', '2026-05-04', '2026-05-10 16:00'),
  ('week', 'Asia/Shanghai', '2026-12-31 16:00Z', '2026-12-28', '2027-01-03 16:00'),    -- ISO week 53 goes on into January
  ('month', 'Asia/Shanghai', '2026-04-30 15:59:59Z', '2026-04-01', '2026-04-30 16:00'),
  -- Berlin: 23 hours on 28 March, 25 on 31 October 2027.
  ('day', 'Europe/Berlin', '2027-03-27 22:59:59Z', '2027-03-27', '2027-03-27 23:00'),
  ('day', 'Europe/Berlin', '2027-03-27 23:00Z', '2027-03-28', '2027-03-28 22:00'),
  ('day', 'Europe/Berlin', '2027-03-28 21:59:59Z', '2027-03-28', '2027-03-28 22:00'),
  ('week', 'Europe/Berlin', '2027-03-28 21:59:59Z', '2027-03-22', '2027-03-28 22:00'),
  ('month', 'Europe/Berlin', '2027-03-28 12:00Z', '2027-03-01', '2027-03-31 22:00'),
  ('day', 'Europe/Berlin', '2027-10-30 22:00Z', '2027-10-31', '2027-10-31 23:00'),
  ('day', 'Europe/Berlin', '2027-10-31 22:59:59Z', '2027-10-31', '2027-10-31 23:00'),
  ('month', 'Europe/Berlin', '2027-10-31 22:59:59Z', '2027-10-01', '2027-10-31 23:00'),
  -- Santiago: 23:00 to 24:00 of 3 April 2027 comes twice; 5 September 2027 begins at 01:00.
  ('day', 'America/Santiago', '2027-04-03 02:59:59Z', '2027-04-02', '2027-04-03 03:00'),
  ('day', 'America/Santiago', '2027-04-04 02:30Z', '2027-04-03', '2027-04-04 04:00'),  -- 23:30, the first
  ('day', 'America/Santiago', '2027-04-04 03:30Z', '2027-04-03', '2027-04-04 04:00'),  -- 23:30, the second
  ('day', 'America/Santiago', '2027-04-04 04:00Z', '2027-04-04', '2027-04-05 04:00'),
  ('week', 'America/Santiago', '2027-04-04 04:00Z', '2027-03-29', '2027-04-05 04:00'),
  ('day', 'America/Santiago', '2027-09-05 03:59:59Z', '2027-09-04', '2027-09-05 04:00'),
  ('day', 'America/Santiago', '2027-09-05 04:00Z', '2027-09-05', '2027-09-06 03:00'),
  ('month', 'America/Santiago', '2027-09-05 04:00Z', '2027-09-01', '2027-10-01 03:00'),
  ('day', 'UTC', '2028-02-29 12:00Z', '2028-02-29', '2028-03-01 00:00'),
  ('month', 'UTC', '2028-02-29 12:00Z', '2028-02-01', '2028-03-01 00:00')) p(period, zone, at, starts, resets);
select probe.expect('in total there is one period', largesse.period_start('total', now(), 'UTC') || coalesce(largesse.period_reset('total', now(), 'UTC')::text, ' for ever'),
  '-infinity for ever');

-- The first instant of a local time; what the clocks skip is null (B28).
select probe.expect(local || ' in ' || zone, largesse.time_text(largesse.local_time(local::timestamp, zone)), instant) from (values
  ('2027-03-28 01:59:59', 'Europe/Berlin', '2027-03-28T00:59:59.000000Z'), ('2027-03-28 02:00', 'Europe/Berlin', null), ('2027-03-28 02:30', 'Europe/Berlin', null),
  ('2027-03-28 03:00', 'Europe/Berlin', '2027-03-28T01:00:00.000000Z'), ('2027-10-31 02:30', 'Europe/Berlin', '2027-10-31T00:30:00.000000Z'),
  ('2027-10-31 03:00', 'Europe/Berlin', '2027-10-31T02:00:00.000000Z'),
  ('2027-04-03 23:30', 'America/Santiago', '2027-04-04T02:30:00.000000Z'), ('2027-04-04 00:00', 'America/Santiago', '2027-04-04T04:00:00.000000Z'),
  ('2027-09-04 23:59:59', 'America/Santiago', '2027-09-05T03:59:59.000000Z'), ('2027-09-05 00:00', 'America/Santiago', null),
  ('2027-09-05 00:59:59', 'America/Santiago', null), ('2027-09-05 01:00', 'America/Santiago', '2027-09-05T04:00:00.000000Z'),
  ('2027-04-04 01:45', 'Australia/Lord_Howe', '2027-04-03T14:45:00.000000Z'),                        -- half an hour comes twice
  ('2027-10-03 02:15', 'Australia/Lord_Howe', null),
  ('2028-02-29 12:00', 'Asia/Shanghai', '2028-02-29T04:00:00.000000Z')) t(local, zone, instant);

-- The counters follow: a claim each time, by the test clock.
create function probe.make(i_code text, i_zone text, i_limits jsonb) returns void language plpgsql as $$
begin
  perform largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
  perform probe.expect('create ' || i_code, (select outcome from largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', i_zone,
    'rewardCode', 'probe', 'startAt', '2026-01-01T00:00:00Z', 'endAt', '2029-01-01T00:00:00Z', 'stock', '{"total": null}'::jsonb, 'limits', i_limits), 'test', null)), 'created');
  perform probe.expect('publish ' || i_code, (select outcome from largesse.activity_action(i_code, 'publish', 'test', null, null)), 'ok');
end $$;
create function probe.claim(i_code text, i_at timestamptz) returns text language plpgsql as $$
declare v_out record;
begin
  perform largesse.clock_set(i_at - clock_timestamp());
  select s.* into v_out from largesse.activity a cross join lateral
    largesse.claim_submit(a.id, array['b' || extract(epoch from i_at)], array[1::bigint], array[1], array[null::text], '5 s') s where a.code = i_code and s.ord = 1;
  return v_out.verdict || coalesce(' ' || (v_out.detail::jsonb ->> 'resetsAt'), '');
end $$;
do $$
declare v_step record;
begin
  perform largesse.clock_set('2026-01-02 00:00Z'::timestamptz - clock_timestamp());
  perform probe.make('shanghai', 'Asia/Shanghai', '[{"count": 1, "period": "day"}]'), probe.make('berlin', 'Europe/Berlin', '[{"count": 1, "period": "day"}]'),
          probe.make('santiago', 'America/Santiago', '[{"count": 1, "period": "day"}, {"count": 2, "period": "week"}]');
  for v_step in select * from (values
    ('shanghai', '2026-05-01 15:59:58Z', 'ACCEPTED'), ('shanghai', '2026-05-01 15:59:59Z', 'LIMIT_REACHED 2026-05-01T16:00:00.000000Z'),
    ('shanghai', '2026-05-01 16:00:00Z', 'ACCEPTED'), ('shanghai', '2026-05-02 15:59:59Z', 'LIMIT_REACHED 2026-05-02T16:00:00.000000Z'),
    ('berlin', '2027-03-27 23:00:00Z', 'ACCEPTED'), ('berlin', '2027-03-28 21:59:59Z', 'LIMIT_REACHED 2027-03-28T22:00:00.000000Z'),
    ('berlin', '2027-03-28 22:00:00Z', 'ACCEPTED'), ('berlin', '2027-10-30 22:00:00Z', 'ACCEPTED'),
    ('berlin', '2027-10-31 22:59:59Z', 'LIMIT_REACHED 2027-10-31T23:00:00.000000Z'), ('berlin', '2027-10-31 23:00:00Z', 'ACCEPTED'),
    ('santiago', '2027-04-03 03:00:00Z', 'ACCEPTED'), ('santiago', '2027-04-04 02:30:00Z', 'LIMIT_REACHED 2027-04-04T04:00:00.000000Z'),
    ('santiago', '2027-04-04 03:59:59Z', 'LIMIT_REACHED 2027-04-04T04:00:00.000000Z'), ('santiago', '2027-04-04 04:00:00Z', 'ACCEPTED'),
    ('santiago', '2027-04-05 03:59:59Z', 'LIMIT_REACHED 2027-04-05T04:00:00.000000Z'), ('santiago', '2027-04-05 04:00:00Z', 'ACCEPTED'),
    ('santiago', '2027-09-04 04:00:00Z', 'ACCEPTED'), ('santiago', '2027-09-05 03:59:59Z', 'LIMIT_REACHED 2027-09-05T04:00:00.000000Z'),
    ('santiago', '2027-09-05 04:00:00Z', 'ACCEPTED'), ('santiago', '2027-09-06 02:59:59Z', 'LIMIT_REACHED 2027-09-06T03:00:00.000000Z'),
    ('santiago', '2027-09-06 03:00:00Z', 'ACCEPTED')) s(code, at, verdict) loop
    perform probe.expect(v_step.code || ' at ' || v_step.at, probe.claim(v_step.code, v_step.at::timestamptz), v_step.verdict);
  end loop;
end $$;
select probe.expect('a counter for each day and week', string_agg(u.period || ' ' || u.period_start || ' ' || u.used, ', ' order by u.period, u.period_start),
  'day 2027-04-03 1, day 2027-04-04 1, day 2027-04-05 1, day 2027-09-04 1, day 2027-09-05 1, day 2027-09-06 1, week 2027-03-29 2, week 2027-04-05 1, week 2027-08-30 2, week 2027-09-06 1')
  from largesse.usage u join largesse.activity a on a.id = u.activity_id where a.code = 'santiago';
-- What a claim gives back goes to the counter of the period in which it was made, not to today's.
select largesse.claim_move(array[c.activity_id], array[c.id], 'failed', null, null, null) from largesse.claim c join largesse.activity a on a.id = c.activity_id
 where a.code = 'santiago' and c.created_at >= '2027-04-04 04:00Z' and c.created_at < '2027-04-05 04:00Z';
select probe.expect('given back', string_agg(u.period || ' ' || u.period_start || ' ' || u.used, ', ' order by u.period, u.period_start),
  'day 2027-04-03 1, day 2027-04-04 0, day 2027-04-05 1, week 2027-03-29 1, week 2027-04-05 1')
  from largesse.usage u join largesse.activity a on a.id = u.activity_id where a.code = 'santiago' and u.period_start < '2027-05-01';

-- B31: on the 29th of February an activity is made, claimed and audited like on any other day.
do $$
begin
  perform largesse.clock_set('2028-02-29 12:00Z'::timestamptz - clock_timestamp());
  perform probe.make('leap', 'UTC', '[{"count": 1, "period": "month"}, {"count": 1, "period": "day"}]');
  perform probe.expect('claimed', probe.claim('leap', '2028-02-29 12:00Z'), 'ACCEPTED');
  perform probe.expect('the month ends with it', probe.claim('leap', '2028-02-29 23:59:59Z'), 'LIMIT_REACHED 2028-03-01T00:00:00.000000Z');
  perform probe.expect('the next day', probe.claim('leap', '2028-03-01 00:00Z'), 'ACCEPTED');
end $$;
do $$
declare v_found record;
begin
  for v_found in select a.code, d.name, r::text as row from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r
                  where d.name not in ('claims_stuck') loop
    raise exception 'the audit has findings: %', v_found;
  end loop;
end $$;
