-- SPDX-License-Identifier: Apache-2.0
-- A festival as the pages of the console show it: sessions of every kind, two nights' claims, what went wrong and what people did about it. After world.sql.
-- Owner: tests/browser.
\set QUIET on
create function world.between(i_code text, i_from timestamptz, i_until timestamptz, i_first int, i_count int) returns void language sql as $$
  update largesse.claim c
     set created_at = t.at, issued_at = t.at, updated_at = t.at + t.took, succeeded_at = case when c.succeeded_at is not null then t.at + t.took end, paid_at = case when c.paid_at is not null then t.at + t.took / 2 end
    from (select k.activity_id, k.id, i_from + (i_until - i_from) * power((row_number() over (order by k.id) - 0.5) / i_count, 1.7) as at, interval '1 ms' * (300 + k.id * 7919 % 2600 + case when k.id % 40 = 0 then 14000 else 0 end) as took
            from largesse.claim k where k.activity_id = world.id(i_code) and k.user_id between i_first and i_first + i_count - 1) t
   where c.activity_id = t.activity_id and c.id = t.id
$$;
-- Who came too late, twice, or without being asked for, minute by minute.
create function world.refused(i_code text, i_from timestamptz, i_minutes int, i_most int) returns void language sql as $$
  insert into largesse.refusal_count (activity_id, minute, code, refusals)
    select world.id(i_code), date_trunc('minute', i_from) + n * interval '1 minute', r.code, greatest(1, round(i_most * r.part * (0.6 + 0.4 * sin(n / 3.0)) * (n + 3) / (i_minutes + 3)))
      from generate_series(0, i_minutes - 1) n, (values ('LIMIT_REACHED', 0.6), ('SOLD_OUT', 0.3), ('NOT_ELIGIBLE', 0.1)) r(code, part)
  on conflict do nothing
$$;
-- Units taken, as the last half hour saw it.
create function world.sampled(i_code text) returns void language sql as $$
  insert into largesse.activity_minute (activity_id, minute, taken)
    select s.activity_id, date_trunc('minute', now()) - n * interval '1 minute', greatest(0, s.taken - round(s.taken * 0.55 * power(n / 34.0, 1.3) * (1 + 0.12 * sin(n))))::bigint
      from (select activity_id, sum(taken) as taken from largesse.stock where activity_id = world.id(i_code) group by activity_id) s, generate_series(0, 34) n
  on conflict do nothing
$$;

do $$
declare
  v_evening timestamptz := date_trunc('day', now()) - interval '6 hours';   -- yesterday's, by UTC
  v_before  timestamptz := date_trunc('day', now()) - interval '30 hours';
begin
  perform world.activity('lantern-vouchers', 'Lantern evening vouchers', 1200, '{"eventCode": "lanterns-2026", "venue": "West Lake pavilion"}'),
          world.activity('tea-house', 'Seats at the tea house', 240, '{"kind": "registration", "rewardCode": null, "eventCode": "lanterns-2026", "venue": "Old tea house", "waitingList": {"max": 80}}'),
          world.activity('lucky-numbers', 'Lucky numbers', null, '{"kind": "number", "rewardCode": null, "stock": {"total": null}, "price": {"amount": 1800, "currency": "CNY"}, "paymentProvider": "simulator", "eventCode": "lanterns-2026"}'),
          world.activity('porcelain-cups', 'Porcelain cups for points', 300, '{"kind": "exchange", "pointsCost": 120, "rewardCode": "tea", "eventCode": "lanterns-2026"}'),
          world.activity('night-market', 'Night market passes', 800, jsonb_build_object('startAt', now() + interval '5 hours 12 minutes', 'endAt', now() + interval '9 hours', 'eventCode', 'lanterns-2026')),
          world.activity('river-boats', 'River boats, evening tour', 90, '{"eventCode": "lanterns-2026", "venue": "Pier 2"}'),
          world.activity('opening-night', 'Opening night vouchers', 700, '{"eventCode": "lanterns-2026"}');
  perform largesse.activity_put(jsonb_build_object('code', 'closing-parade', 'name', 'Closing parade', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'startAt', now() + interval '6 days', 'endAt', now() + interval '7 days', 'rewardCode', 'voucher', 'stock', '{"total": 500}'::jsonb), 'adam', null, 'first sketch');
  perform largesse.numbers_add('lucky-numbers', null, 1, 160, 'adam'), largesse.points_grant_many(array(select generate_series(1, 260)), array(select generate_series(1, 260)), array(select 'spring-' || n from generate_series(1, 260) n),
    array_fill(600::bigint, array[260]), array_fill('spring campaign'::text, array[260]), 'adam');
  -- Two nights ago, last night, today.
  perform world.submit('opening-night', 1, 610), world.deliver('opening-night', 1, 610), world.between('opening-night', v_before, v_before + interval '5 hours', 1, 610);
  perform world.submit('lantern-vouchers', 1, 520), world.deliver('lantern-vouchers', 1, 512), world.between('lantern-vouchers', v_evening, v_evening + interval '5 hours', 1, 520);
  perform world.submit('tea-house', 1, 150), world.between('tea-house', v_evening - interval '6 hours', v_evening + interval '3 hours', 1, 150);
  perform world.submit('porcelain-cups', 1, 120), world.deliver('porcelain-cups', 1, 117), world.between('porcelain-cups', v_evening, v_evening + interval '4 hours', 1, 120);
  perform world.submit('lucky-numbers', 1, 60, array(select generate_series(1, 60)::bigint)), world.deliver('lucky-numbers', 1, 56), world.between('lucky-numbers', v_evening - interval '2 hours', v_evening + interval '2 hours', 1, 60);
  perform world.submit('lantern-vouchers', 1001, 340), world.deliver('lantern-vouchers', 1001, 322), world.submit('tea-house', 1001, 90), world.submit('porcelain-cups', 200, 60), world.deliver('porcelain-cups', 200, 58),
          world.submit('river-boats', 1, 90), world.deliver('river-boats', 1, 84);
  perform world.between('lantern-vouchers', now() - interval '3 hours', now() - interval '30 minutes', 1001, 340), world.between('porcelain-cups', now() - interval '3 hours', now() - interval '30 minutes', 200, 60), world.between('river-boats', now() - interval '3 hours', now() - interval '30 minutes', 1, 90),
          world.between('tea-house', now() - interval '3 hours', now() - interval '30 minutes', 1001, 90);
  perform world.submit('tea-house', 2001, 14);  -- who waits
  perform world.refused('opening-night', v_before, 240, 9), world.refused('lantern-vouchers', v_evening, 300, 14), world.refused('lantern-vouchers', now() - interval '29 minutes', 30, 46), world.refused('river-boats', now() - interval '29 minutes', 30, 21), world.refused('tea-house', now() - interval '29 minutes', 30, 7);
  -- What no machine could finish.
  perform world.letters('lantern-vouchers', 513, 8, 'attempts_exhausted', 'ACCOUNT_BUSY', 'account is busy, try later', 6), world.letters('lantern-vouchers', 1323, 14, 'unknown', null, 'no answer within 3 s', 4),
          world.letters('lantern-vouchers', 1337, 3, 'refused', 'ACCOUNT_CLOSED', 'the account was closed', 1), world.letters('porcelain-cups', 118, 3, 'refused', 'OUT_OF_REGION', 'not served in this region', 1), world.letters('river-boats', 85, 5, 'attempts_exhausted', 'ACCOUNT_BUSY', 'account is busy, try later', 6);
  perform largesse.dead_letter_unreadable('simulator', 'unreadable', 'no member named claims', '{"activity": 17, "claim": "x"}');
  update largesse.attempt t set started_at = c.created_at + t.attempt * interval '3 minutes' from largesse.claim c where c.activity_id = t.activity_id and c.id = t.claim_id and c.review_since is not null;
  update largesse.dead_letter d set opened_at = c.created_at + interval '20 minutes' from largesse.claim c where c.activity_id = d.activity_id and c.id = d.claim_id;
  update largesse.claim c set updated_at = c.created_at + interval '20 minutes', review_since = c.created_at + interval '20 minutes' where c.review_since is not null;
  -- Books that somebody has touched.
  update largesse.stock set remaining = remaining - 2, taken = taken + 2 where activity_id = world.id('lantern-vouchers');
  update largesse.usage set used = used + 1 where activity_id = world.id('opening-night') and user_id = 17;
  delete from largesse.attempt where activity_id = world.id('opening-night') and claim_id = (select min(c.id) from largesse.claim c where c.activity_id = world.id('opening-night'));
  perform world.sampled('lantern-vouchers'), world.sampled('tea-house'), world.sampled('porcelain-cups'), world.sampled('river-boats');
end $$;
select largesse.stock_adjust('river-boats', 'boat-3', 30, 'a third boat', 'olga');
select largesse.activity_action('river-boats', 'pause', 'olga', 'the wind is too strong', null);
analyze;
