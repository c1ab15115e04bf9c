-- SPDX-License-Identifier: Apache-2.0
-- Taking leaves the due time of a claim alone: whatever looks for due claims must respect the lease. And settling a plain success is one statement, in each
-- month's partition: it must come to the same as the way that everything else takes.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_actual; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}'), largesse.reward_put('other', 'simulator', 7, 'CNY', '{}');
create function probe.make(i_code text, i_reward text, i_end interval) returns bigint language plpgsql as $$ begin
  perform largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', i_reward,
    'startAt', now() - interval '1 hour', 'endAt', now() + i_end, 'stock', '{"total": 1000}'::jsonb), 'test', null);
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
  return (select id from largesse.activity where code = i_code);
end $$;
create temp table activities as select probe.make('near', 'probe', '1 day') as near, probe.make('far', 'other', '70 days') as far;
create function probe.submit(i_activity bigint, i_user bigint, i_sweep_after interval default '5 s') returns bigint language sql as $$
  select s.claim_id from largesse.claim_submit(i_activity, array['b"\' || i_user], array[i_user], array[1], array['web "1"'], i_sweep_after) s where s.ord > 0
$$;
create function probe.claim(i_user bigint) returns largesse.claim language sql as $$ select c from largesse.claim c where c.user_id = i_user $$;
create function probe.take(i_user bigint, i_lease interval default '10 s') returns text language sql as $$
  select string_agg(t.doing || ' ' || t.attempt, ',') from probe.claim(i_user) c
   cross join lateral largesse.claim_take(array[c.activity_id], array[c.id], array[c.attempts], i_lease, '4 s', 'simulator') t
$$;
create function probe.settle(i_users bigint[], i_traces uuid[] default null) returns text language sql as $$
  select string_agg(s.status || case when s.under_review then ' review' else '' end, ',' order by s.activity_id, s.claim_id)
    from (select array_agg(c.activity_id) as a, array_agg(c.id) as c, array_agg(c.attempts) as attempts, array_agg('ref "' || c.user_id || '"') as refs,
                 array_fill(1, array[count(*)::int]) as ones, array_fill(null::text, array[count(*)::int]) as none, array_fill(now(), array[count(*)::int]) as at,
                 array_fill(5::bigint, array[count(*)::int]) as five, array_agg('deliver'::text) as steps, array_agg('done'::text) as done, array_agg('simulator'::text) as p
            from unnest(i_users) with ordinality as u(id, n) cross join lateral probe.claim(u.id) c where c.id is not null) x
   cross join lateral largesse.claim_settle(x.a, x.c, x.attempts, x.ones, x.steps, x.done, x.p, x.ones, x.refs, x.none, x.none, x.at, x.five, x.five, x.none,
                                            null, null, null, null, i_traces) s
$$;
create function probe.swept() returns text language sql as $$
  select coalesce(string_agg(s.claim_id || ' ' || s.attempt, ','), 'none') from largesse.claim_sweep(100, '-infinity', '10 s', '{}') s
$$;

-- The lease goes before the due time.
select probe.submit(near, 1, '-1 s') from activities;
select probe.expect('due', largesse.claim_due_count(10)::text, '1');
create temp table before as select next_attempt_at from largesse.claim;
select probe.expect('taken', probe.take(1), 'deliver 1');
select probe.expect('its due time stays', (c.next_attempt_at = b.next_attempt_at)::text, 'true') from probe.claim(1) c, before b;
select probe.expect('not due while leased', largesse.claim_due_count(10)::text, '0');
select probe.expect('shown behind the lease', ((largesse.claim_json(c, 'near')::json #>> '{delivery,nextAttemptAt}')::timestamptz = c.lease_until)::text, 'true') from probe.claim(1) c;
select probe.expect('nor taken', probe.take(1), null);
select probe.expect('held back, left alone', count(*)::text, '0') from largesse.claim_sweep(100, '-infinity', '10 s', '{simulator}');
select probe.expect('still', (c.next_attempt_at = b.next_attempt_at)::text, 'true') from probe.claim(1) c, before b;
select probe.expect('not swept while leased', probe.swept(), 'none');
-- A later pass looks back no further than this one: it must find the claim behind its lease.
select probe.expect('moved behind the lease', (c.next_attempt_at = c.lease_until + interval '1 s' and c.sweeps = 0)::text, 'true') from probe.claim(1) c;
update largesse.claim set lease_until = lease_until - interval '1 minute', next_attempt_at = next_attempt_at - interval '1 minute' where user_id = 1;
select probe.expect('due when the lease is over', largesse.claim_due_count(10)::text, '1');
select probe.expect('and swept', probe.swept(), (probe.claim(1)).id || ' 1');
select probe.expect('an inquiry then', probe.take(1), 'inquire 2');

-- Where nobody swept in between, an ended lease alone makes it due.
select probe.submit(near, 2, '-1 s') from activities;
select probe.expect('taken', probe.take(2, '-1 s'), 'deliver 1');
select probe.expect('due at once', probe.swept(), (probe.claim(2)).id || ' 1');
select probe.expect('none is overdue for the audit', count(*)::text, '0') from activities, largesse.audit_claims_stuck(near);

-- Plain successes of two months and two rewards in one statement, one of them twice, one that is a stranger's.
select probe.submit(near, u), probe.submit(far, u + 100) from activities, generate_series(11, 13) u;
select probe.expect('taken', probe.take(u) || probe.take(u + 100), 'deliver 1deliver 1') from generate_series(11, 13) u;
delete from largesse.event_out;
select probe.expect('settled', probe.settle('{112,11,12,111,11,99}'), 'succeeded,succeeded,succeeded,succeeded');
select probe.expect('rows', string_agg(concat_ws(' ', c.user_id, c.status, c.outcome, c.provider_ref, c.next_attempt_at, c.lease_until, c.trust_after, c.doing, c.sweeps), ',' order by c.user_id),
  '11 succeeded done ref "11" 0,12 succeeded done ref "12" 0,111 succeeded done ref "111" 0,112 succeeded done ref "112" 0') from largesse.claim c where c.status = 'succeeded';
select probe.expect('attempts', count(*) || ' ' || count(*) filter (where t.trace = c.trace), '4 4') from largesse.attempt t join largesse.claim c on c.activity_id = t.activity_id and c.id = t.claim_id;
select probe.expect('events', string_agg(e.id || ' ' || (e.doc::json ->> 'activityCode') || ' ' || (e.doc::json ->> 'rewardCode') || ' ' || (e.doc = largesse.claim_json(c, a.code)) || ' ' || (e.trace = replace(c.trace::text, '-', '')), ',' order by c.user_id),
  string_agg(c.activity_id || '-' || c.id || '.succeeded ' || case when c.user_id < 100 then 'near probe' else 'far other' end || ' true true', ',' order by c.user_id))
  from largesse.event_out o cross join unnest(o.event_ids, o.subjects, o.docs, o.traces) as e(id, subject, doc, trace)
  join largesse.claim c on e.subject = c.activity_id || '-' || c.id join largesse.activity a on a.id = c.activity_id where o.type = 'claim.succeeded';
select probe.expect('told once', (select sum(cardinality(event_ids))::text from largesse.event_out), '4');
select probe.expect('again: nothing new', probe.settle('{11,112}') || (select sum(cardinality(event_ids)) from largesse.event_out), null);
-- What is not plain goes the long way in the same statement: one under review with its letter, one being taken back, one that gave up.
select probe.expect('taken', probe.take(13), null);
update largesse.claim set review_since = now(), review_cause = 'x', lease_until = null, next_attempt_at = null where user_id = 13;
select largesse.dead_letter_open(array[c.activity_id], array[c.id], array['simulator'], array['x'], null, null) from probe.claim(13) c;
select probe.expect('mixed', probe.settle('{13,113}', array['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']::uuid[]), 'succeeded,succeeded');
select probe.expect('letter', string_agg(d.resolution, ','), 'settled') from largesse.dead_letter d;
select probe.expect('traces as told', string_agg(right(t.trace::text, 1), ',' order by c.user_id), '1,2') from largesse.attempt t join largesse.claim c on c.activity_id = t.activity_id and c.id = t.claim_id where c.user_id in (13, 113);
-- A letter that is open without a review ends too.
select probe.submit(near, 14) from activities;
select largesse.dead_letter_open(array[c.activity_id], array[c.id], array['simulator'], array['x'], null, null) from probe.claim(14) c;
select probe.expect('plain with a letter', probe.take(14) || probe.settle('{14}'), 'deliver 1succeeded');
select probe.expect('no letter is open', count(*)::text, '0') from largesse.dead_letter where closed_at is null;
-- Ids of a month that has no partition, or of none at all, are nobody's.
select probe.expect('nobody', count(*)::text, '0') from largesse.claim_take(array[1::bigint, 9000000000000000000, -5, 999000001], array[1::bigint, 1, 1, 1], array[0, 0, 0, 0], '1 s', '1 s', 'simulator');

-- The JSON of a claim is what the JSON functions would make of it, in every state.
create function probe.reference(c largesse.claim, a text, r text, n bigint) returns text language sql as $$
  select json_strip_nulls(json_build_object('claimId', c.activity_id || '-' || c.id, 'activityCode', a, 'userId', c.user_id::text, 'bizId', c.biz_id, 'status', c.status, 'rewardCode', r,
    'quantity', c.quantity, 'channel', c.channel, 'createdAt', largesse.time_text(c.created_at), 'updatedAt', largesse.time_text(c.updated_at),
    'delivery', case when c.step is not null then json_build_object('attempts', c.attempts, 'nextAttemptAt', largesse.time_text(greatest(c.next_attempt_at, c.lease_until)), 'outcome', c.outcome, 'ref', c.provider_ref) end,
    'reversal', case when c.reversal is not null then json_build_object('status', c.reversal, 'attempts', n, 'since', largesse.time_text(c.reversal_since), 'doneAt', largesse.time_text(c.reversed_at)) end,
    'review', case when c.review_since is not null then json_build_object('cause', c.review_cause, 'since', largesse.time_text(c.review_since)) end,
    'failure', case when c.failure_code is not null then json_build_object('code', c.failure_code, 'detail', c.failure_detail) end))::text
$$;
create temp table odd as
  select c.activity_id, c.id, c.user_id, c.created_at, c.updated_at, v.next, v.lease, v.review, c.quantity, c.reward_id, c.attempts, b.biz, s.status, v.step, b.channel, v.outcome, b.ref, v.cause, v.code, b.detail, v.reversal, v.since, v.reversed
    from probe.claim(11) c,
         (values ('a', null, null, null), (E'q"\\/\b\f\n\r\t\u0001<&>é中𝄞', E'"', E'\\"', E'line\nbreak'), ('', '', '', ''), ('%s%', '%I', '$1', '%%')) as b(biz, channel, ref, detail),
         (values ('issuing'), ('succeeded'), ('failed'), ('rolled_back'), ('waiting')) as s(status),
         (values (null::timestamptz, null::timestamptz, null::timestamptz, null, null, null, null, null, null::timestamptz, null::timestamptz),
                 (now(), null, null, 'deliver', null, null, null, null, null, null), (now(), now() + interval '3 s', null, 'inquire', 'unknown', null, null, null, null, null),
                 (null, null, now(), 'inquire', 'pending', 'attempts "used" up', 'CODE"1', 'owed', now(), null), (null, null, null, 'reverse', 'done', null, '', 'done', now(), now() + interval '1.5 s')) as v(next, lease, review, step, outcome, cause, code, reversal, since, reversed);
select probe.expect('JSON of ' || o::text, largesse.claim_doc(x.c, 'near', x.r, 3), probe.reference(x.c, 'near', x.r, 3))
  from odd o cross join lateral (select jsonb_populate_record(null::largesse.claim, jsonb_build_object('activity_id', o.activity_id, 'id', o.id, 'user_id', o.user_id, 'created_at', o.created_at, 'updated_at', o.updated_at,
    'next_attempt_at', o.next, 'lease_until', o.lease, 'review_since', o.review, 'quantity', o.quantity, 'attempts', o.attempts, 'biz_id', o.biz, 'status', o.status, 'step', o.step, 'channel', o.channel, 'outcome', o.outcome,
    'provider_ref', o.ref, 'review_cause', o.cause, 'failure_code', o.code, 'failure_detail', o.detail, 'reversal', o.reversal, 'reversal_since', o.since, 'reversed_at', o.reversed)) as c, case when o.status <> 'waiting' then 'probe' end as r) x;
select probe.expect('all of them', count(*)::text, '100') from odd;

-- Where more is overdue than one visit takes, the visit does not walk through all of it for what is leased: that is for the end of the pass.
update largesse.claim set next_attempt_at = null where next_attempt_at is not null;
select probe.submit(near, u) from activities, generate_series(21, 24) u;
select probe.expect('taken', probe.take(21), 'deliver 1');
update largesse.claim set next_attempt_at = now() - interval '1 minute' where user_id between 21 and 24;
select probe.expect('a full visit', count(*)::text, '2') from largesse.claim_sweep(2, '-infinity', '10 s', '{}');
select probe.expect('the leased one is where it was', (c.next_attempt_at < now())::text, 'true') from probe.claim(21) c;
select probe.expect('the last visit', count(*)::text, '1') from largesse.claim_sweep(2, '-infinity', '10 s', '{}');
select probe.expect('it is behind its lease', (c.next_attempt_at > c.lease_until)::text, 'true') from probe.claim(21) c;
