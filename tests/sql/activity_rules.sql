-- SPDX-License-Identifier: Apache-2.0
-- Configuration of all kinds of activity and all rules: what is kept and shown, what is refused with which path, what may change once published.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
create function probe.doc(i_code text, i_doc jsonb) returns jsonb language sql as $$
  select jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'startAt', largesse.time_text(date_trunc('day', now()) - interval '1 day'),
    'endAt', largesse.time_text(date_trunc('day', now()) + interval '3 days'), 'stock', '{"total": 10}'::jsonb) || i_doc
$$;
-- "outcome changed detail", as far as there is any of it
create function probe.put(i_code text, i_doc jsonb) returns text language sql as $$
  select concat_ws(' ', p.outcome, array_to_string(nullif(p.changed, '{}'), ','), p.detail) from largesse.activity_put(probe.doc(i_code, i_doc), 'test', null) p
$$;
create function probe.shown(i_code text) returns jsonb language sql as $$ select doc::jsonb from largesse.activity_json(i_code) $$;
select largesse.reward_put('r', 'simulator', 100, 'CNY', '{}'), largesse.event_put('fest', 'Festival', 'Asia/Shanghai');

-- What is put is shown, and what is shown can be put: it changes nothing.
create temp table made (code text, doc jsonb);
insert into made values
  ('plain', '{"rewardCode": "r", "attributes": {"none": null, "list": [1, null]}, "venue": "v"}'),
  ('ruled', '{"rewardCode": "r", "eventCode": "fest", "stock": {"total": 11, "segments": 4}, "needsQualification": true, "channels": ["APP", "no", "1.10"],
     "eligibility": "$.user.level >= 5 && $.request.channel == \"APP\"", "exclusiveGroup": "mall", "onRefused": "review", "intake": "queued",
     "limits": [{"count": 1, "period": "day"}, {"count": 2, "period": "event"}, {"count": 9, "period": "total"}],
     "rateLimit": {"perUser": {"rate": 1, "burst": 3}, "total": {"rate": 500, "burst": 1000}}}'),
  ('places', '{"kind": "registration", "signUpAgain": false, "waitingList": {"max": 50, "acceptWithin": "90s"}, "limits": []}'),
  ('open-list', '{"kind": "registration", "waitingList": {"max": 5}, "limits": [{"count": 3, "period": "total"}]}'),
  ('numbers', '{"kind": "number", "stock": {"total": null}, "price": {"amount": 200, "currency": "CNY"}, "paymentProvider": "simulator", "holdFor": "10m",
     "latePayment": "review", "rewardCode": "r", "limits": [{"count": 5, "period": "total"}]}'),
  ('capped', '{"kind": "number", "stock": {"total": 7}, "limits": []}'),
  ('points', '{"kind": "exchange", "rewardCode": "r", "pointsCost": 299, "stock": {"total": null, "segments": 2}}');
select probe.expect(code, probe.put(code, doc), 'created') from made;
-- Defaults are shown besides; what was given is shown as it was given.
select probe.expect(m.code || '.' || g.key, (probe.shown(m.code) -> g.key)::text, g.value::text) from made m, jsonb_each(m.doc) g;
select probe.expect(m.code || ' again', probe.put(m.code, probe.shown(m.code) - '{status,serverTime,availability}'::text[]), 'unchanged') from made m;
select probe.expect('a default limit', (probe.shown('plain') -> 'limits')::text, '[{"count": 1, "period": "total"}]');
select probe.expect('nothing of other kinds', string_agg(k, ' ' order by k collate "C"),
  'attributes availability code endAt intake kind limits name needsQualification onRefused rewardCode serverTime startAt status stock timeZone venue')
  from jsonb_object_keys(probe.shown('plain')) k;
select probe.expect('shares of the stock', string_agg(segment || ':' || coalesce(remaining::text, '-'), ' ' order by segment), expected)
  from (values ('ruled', '0:3 1:3 2:3 3:2'), ('points', '0:- 1:-'), ('numbers', '0:0'), ('capped', '0:7')) e(code, expected)
  join largesse.activity a using (code) join largesse.stock s on s.activity_id = a.id group by code, expected;
select probe.expect('terms of payment', (r.code, r.provider, r.amount, r.currency, r.purpose)::text, '(numbers,simulator,200,CNY,payment)')
  from largesse.activity a join largesse.reward r on r.id = a.payment_id where a.code = 'numbers';
select probe.expect('terms of payment are no reward', largesse.reward_json('numbers'), null);
select probe.expect('not even for an activity', probe.put('other', '{"rewardCode": "numbers"}'), 'INVALID_REQUEST rewardCode: there is no such reward');
select probe.expect('memory knows', (c.kind, c.payment_provider, c.intake, c.rate_limit #>> '{perUser,burst}', c.segments, c.waiting, c.waiting_max, c.has_rules)::text, expected)
  from (values ('ruled', '(reward,,queued,3,4,0,,t)'), ('places', '(registration,,direct,,1,0,50,t)'), ('numbers', '(number,simulator,direct,,1,0,,t)')) e(code, expected)
  join largesse.activity a using (code) cross join lateral largesse.activity_cache(a.changed_at) c where c.code = a.code;

-- Each fault with its path; nothing is made.
select probe.expect(doc::text, probe.put('bad', doc::jsonb), 'INVALID_REQUEST ' || fault) from (values
  ('{}', 'rewardCode: there is no such reward'),
  ('{"kind": "exchange", "pointsCost": 1}', 'rewardCode: there is no such reward'),
  ('{"kind": "registration", "rewardCode": "none"}', 'rewardCode: there is no such reward'),
  ('{"rewardCode": "r", "timeZone": "Mars/Base"}', 'timeZone: not an IANA time zone'),
  ('{"rewardCode": "r", "eventCode": "none"}', 'eventCode: there is no event none'),
  ('{"rewardCode": "r", "limits": [{"count": 1, "period": "event"}]}', 'limits: a limit over the sessions of an event needs eventCode'),
  ('{"rewardCode": "r", "limits": [{"count": 1, "period": "day"}, {"count": 2, "period": "day"}]}', 'limits: a period is named twice'),
  ('{"rewardCode": "r", "eligibility": "$.user.level"}',
   'eligibility: must be a predicate, such as $.user.level >= 5; this path gives a value instead of true or false'),
  ('{"rewardCode": "r", "eligibility": "$.user ? (@.level > 5)"}',
   'eligibility: must be a predicate, such as $.user.level >= 5; this path gives a value instead of true or false'),
  ('{"rewardCode": "r", "eligibility": "$"}',
   'eligibility: must be a predicate, such as $.user.level >= 5; this path gives a value instead of true or false'),
  ('{"rewardCode": "r", "eligibility": "true"}',
   'eligibility: must be a predicate, such as $.user.level >= 5; this path gives a value instead of true or false'),
  ('{"rewardCode": "r", "eligibility": "$.user.born.datetime(\"DD/MM/YYYY\") < $.user.since.datetime(\"hello\")"}',
   'eligibility: .datetime("hello"): invalid datetime format separator: "h"'),
  ('{"rewardCode": "r", "eligibility": "$.level >= 5"}', 'eligibility: sees user, progress and request; there is no $.level'),
  ('{"rewardCode": "r", "eligibility": "$.user.level >= $least"}', 'eligibility: must not use variables')) f(doc, fault);
-- PostgreSQL's own words about what is no jsonpath.
select probe.expect(e, (probe.put('bad', jsonb_build_object('rewardCode', 'r', 'eligibility', e)) ~ ('^INVALID_REQUEST eligibility: is no jsonpath: ' || words))::text, 'true')
  from (values ('$.user.level >=', 'syntax error'), ('user.level > 1', 'syntax error'), ('', 'invalid input syntax'),
               ('$.user.name like_regex "("', 'invalid regular expression')) f(e, words);
select probe.expect(e, largesse.eligibility_fault(e), null) from unnest(array['$.user.level >= 5', 'exists($.progress.x)', '!($.user.vip == true)', 'strict $.user.level > 1',
  '$.user.name starts with "a"', '$.user.name like_regex "^a"', '($.user.level > 1) is unknown', '$.user.level + 1 > 2', '$.user.tags[*] == "x\"$.other"',
  '$.progress."first task" >= 3', '$.request.quantity <= 2', '$.user ? (@.level > 5).level > 1']) e;
select probe.expect('nothing was made', count(*)::text, '0') from largesse.activity where code = 'bad';

-- A draft may change in everything; its stock is laid out anew, and every price that it had is a version.
select probe.expect('price', probe.put('numbers', '{"kind": "number", "stock": {"total": null}, "price": {"amount": 300, "currency": "CNY"}, "paymentProvider": "other"}'),
  'updated rewardCode,limits,price,paymentProvider,holdFor,latePayment');
select probe.expect('versions', string_agg(r.amount || r.provider, ' ' order by r.id), '200simulator 300other') from largesse.reward r where r.code = 'numbers';
select probe.expect('no price', probe.put('numbers', '{"kind": "number", "stock": {"total": null}}'), 'updated price,paymentProvider');
select probe.expect('the first again', probe.put('numbers', (select doc from made where code = 'numbers')), 'updated rewardCode,limits,price,paymentProvider,holdFor,latePayment');
select probe.expect('is no version more', count(*)::text, '2') from largesse.reward r where r.code = 'numbers';
select probe.expect('fewer segments', probe.put('ruled', (select doc from made where code = 'ruled') || '{"stock": {"total": 9, "segments": 2}}'), 'updated stock.total,stock.segments');
select probe.expect('shares', string_agg(segment || ':' || remaining, ' ' order by segment), '0:5 1:4') from largesse.stock s join largesse.activity a on a.id = s.activity_id where code = 'ruled';
insert into largesse.activity_number (activity_id, number) select id, n from largesse.activity, generate_series(1, 3) n where code = 'capped';
select probe.expect('its numbers are its stock', probe.put('capped', '{"kind": "number", "stock": {"total": null}, "limits": []}'), 'updated stock.total');
select probe.expect('counted', (probe.shown('capped') -> 'availability' ->> 'remaining'), '3');
select probe.expect('numbers stay numbers', probe.put('capped', '{"kind": "registration", "limits": []}'), 'STATE_CONFLICT kind,stock.total kind: numbers were added already');

-- Once published, what claims stand on stays; the rest may change.
select probe.expect('publish', (largesse.activity_action(code, 'publish', 'test', null, null)).outcome, 'ok') from made;
create function probe.change(i_code text, i_change jsonb) returns text language sql as $$
  -- null takes a member away
  select probe.put(i_code, (probe.shown(i_code) || i_change) - '{status,serverTime,availability}'::text[]
                           - array(select key from jsonb_each(i_change) where value = 'null'))
$$;
select probe.expect(code || change, probe.change(code, change::jsonb), 'STATE_CONFLICT ' || expected) from (values
  ('plain', '{"kind": "registration"}', 'kind kind: cannot change after publishing'),
  ('plain', '{"timeZone": "UTC"}', 'timeZone timeZone: cannot change after publishing'),
  ('plain', '{"eventCode": "fest"}', 'eventCode eventCode: cannot change after publishing'),
  ('plain', '{"needsQualification": true}', 'needsQualification needsQualification: cannot change after publishing'),
  ('plain', '{"exclusiveGroup": "mall"}', 'exclusiveGroup exclusiveGroup: cannot change after publishing'),
  ('plain', '{"startAt": "2020-01-01T00:00:00Z"}', 'startAt startAt: cannot change once the session runs'),
  ('plain', '{"stock": {"total": null}}', 'stock.total stock.total: limited and unlimited cannot be exchanged after publishing'),
  ('plain', '{"stock": {"total": 10, "segments": 2}}', 'stock.segments stock.segments: cannot change after publishing'),
  ('ruled', '{"limits": []}', 'limits limits: a limit over the sessions of an event cannot be added or taken away after publishing'),
  ('numbers', '{"price": {"amount": 1, "currency": "CNY"}}', 'price price: cannot change after publishing'),
  ('numbers', '{"paymentProvider": "elsewhere"}', 'paymentProvider paymentProvider: cannot change after publishing'),
  ('numbers', '{"stock": {"total": 5}}', 'stock.total stock.total: a limit below the count of numbers cannot be added or taken away after publishing'),
  ('open-list', '{"waitingList": null}', 'waitingList waitingList: cannot be added or taken away after publishing')) c(code, change, expected);
select probe.expect('a refused price leaves no version', count(*)::text, '2') from largesse.reward r where r.code = 'numbers';
select probe.expect(code || change, probe.change(code, change::jsonb), 'updated ' || expected) from (values
  ('points', '{"pointsCost": 199}', 'pointsCost'),
  ('ruled', '{"eligibility": "$.user.level >= 3", "channels": ["WEB"], "rateLimit": {"total": {"rate": 1, "burst": 1}}}', 'eligibility,channels,rateLimit'),
  ('ruled', '{"limits": [{"count": 3, "period": "event"}, {"count": 1, "period": "week"}], "onRefused": "fail", "intake": "direct"}', 'limits,onRefused,intake'),
  ('numbers', '{"holdFor": "1h", "latePayment": "refund"}', 'holdFor,latePayment'),
  ('places', '{"waitingList": {"max": 60, "acceptWithin": "2m"}, "signUpAgain": true}', 'signUpAgain,waitingList')) c(code, change, expected);
select probe.expect('nothing limits it any more', probe.change('ruled', '{"eligibility": null, "channels": null, "rateLimit": null}'), 'updated eligibility,channels,rateLimit');
select probe.expect('limits now', (probe.shown('ruled') -> 'limits')::text, '[{"count": 3, "period": "event"}, {"count": 1, "period": "week"}]');

-- Durations.
select probe.expect(t, largesse.span_text(largesse.span_interval(t)), shown) from (values
  ('90s', '90s'), ('120s', '2m'), ('24h', '1d'), ('36h', '36h'), ('250ms', '250ms'), ('10us', '10us'), ('1d', '1d'), ('0s', '0s')) s(t, shown);
select probe.expect('a day has 24 hours', (largesse.span_interval('1d') = interval '24 hours' and extract(day from largesse.span_interval('1d')) = 0)::text, 'true');

-- A limit over the sessions of an event: each judges by its own, over what all of them counted; changing it forgets nothing.
create function probe.claim(i_code text, i_biz text, i_user bigint) returns text language sql as $$
  select s.verdict from largesse.activity a cross join lateral
    largesse.claim_submit(a.id, array[i_biz], array[i_user], array[1], array[null::text], '5 s') s where a.code = i_code and s.ord = 1
$$;
select probe.expect('session ' || n, probe.put('s' || n, jsonb_build_object('rewardCode', 'r', 'eventCode', 'fest', 'limits',
  jsonb_build_array(jsonb_build_object('count', n, 'period', 'event')))), 'created') from generate_series(2, 3) n;
select probe.expect('publish', (largesse.activity_action('s' || n, 'publish', 'test', null, null)).outcome, 'ok') from generate_series(2, 3) n;
select probe.expect('one here', probe.claim('s2', 'a', 7), 'ACCEPTED'), probe.expect('one there', probe.claim('s3', 'a', 7), 'ACCEPTED'),
       probe.expect('a third not here', probe.claim('s2', 'b', 7), 'LIMIT_REACHED'), probe.expect('but there', probe.claim('s3', 'b', 7), 'ACCEPTED');
select probe.expect('counted together', used::text, '3') from largesse.event_usage where event_code = 'fest' and user_id = 7;
select probe.expect('fewer', probe.change('s3', '{"limits": [{"count": 1, "period": "event"}, {"count": 5, "period": "day"}]}'), 'updated limits');
select probe.expect('nothing is forgotten', used::text, '3') from largesse.event_usage where event_code = 'fest' and user_id = 7;
select probe.expect('the new limit counts what was before', used::text, '2') from largesse.usage u join largesse.activity a on a.id = u.activity_id
 where a.code = 's3' and u.user_id = 7 and u.period = 'day';
select probe.expect('not even for another session', probe.claim('s3', 'c', 7), 'LIMIT_REACHED'), probe.expect('others may', probe.claim('s3', 'd', 8), 'ACCEPTED');
select probe.expect('more', probe.change('s3', '{"limits": [{"count": 4, "period": "event"}, {"count": 5, "period": "day"}]}'), 'updated limits');
select probe.expect('again', probe.claim('s3', 'e', 7), 'ACCEPTED');
do $$
declare v_found record;
begin
  for v_found in select a.code, d.name, r::text as row from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r where a.code in ('s2', 's3') loop
    raise exception 'the audit has findings: %', v_found;
  end loop;
end $$;
