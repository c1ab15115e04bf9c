-- SPDX-License-Identifier: Apache-2.0
-- Dead letters as people see them: filters, pages, everything about one; and retrying what a filter selects, as the reconciler's role.
create schema probe;
grant usage on schema probe to largesse_reconciler;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', c, 'name', c, 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 50}'::jsonb), 'test', null) from unnest(array['a', 'b']) c;
select largesse.activity_action(c, 'publish', 'test', null, null) from unnest(array['a', 'b']) c;
select largesse.claim_submit(id, array(select 'b' || n from generate_series(1, 5) n), array(select n::bigint from generate_series(1, 5) n),
    array_fill(1, array[5]), array_fill(null::text, array[5]), '5 s') from largesse.activity;
update largesse.claim set review_since = now(), review_cause = 'unknown', next_attempt_at = null, attempts = 2;
insert into largesse.dead_letter (activity_id, claim_id, provider, cause, detail, opened_at)
  select activity_id, id, case when user_id = 5 then 'other' else 'simulator' end, case when user_id % 2 = 0 then 'even' else 'odd' end, '<b>', now()
    from largesse.claim order by activity_id, user_id;
select largesse.dead_letter_unreadable('simulator', 'unreadable', 'no JSON', 'xx');
insert into largesse.attempt select activity_id, id, n, 'deliver', 'simulator', now(), 1500, 'retry', 500, 'oops' from largesse.claim, generate_series(1, 2) n where user_id = 1;
create temp table letters as select d.id, c.user_id, a.code, d.activity_id, d.claim_id
  from largesse.dead_letter d left join largesse.claim c on c.activity_id = d.activity_id and c.id = d.claim_id left join largesse.activity a on a.id = d.activity_id;
grant select on letters to largesse_reconciler;

set role largesse_reconciler;
create function pg_temp.listed(i_state text, i_provider text, i_cause text, i_activity text, i_after bigint, i_limit int) returns text language sql as $$
  select coalesce(string_agg(coalesce(l.code || l.user_id, 'unreadable'), ' ' order by l.id), 'none')
    from largesse.dead_letter_list(i_state, i_provider, i_cause, i_activity, i_after, i_limit) d join letters l using (id)
$$;
select probe.expect('open', pg_temp.listed('open', null, null, null, 0, 100), 'a1 a2 a3 a4 a5 b1 b2 b3 b4 b5 unreadable');
select probe.expect('provider', pg_temp.listed('open', 'other', null, null, 0, 100), 'a5 b5');
select probe.expect('cause and activity', pg_temp.listed('open', null, 'even', 'b', 0, 100), 'b2 b4');
select probe.expect('unknown activity', pg_temp.listed('open', null, null, 'nobody', 0, 100), 'none');
select probe.expect('pages', pg_temp.listed('open', null, null, null, (select id from letters where code = 'a' and user_id = 4), 2), 'a5 b1');
select probe.expect('none is closed', pg_temp.listed('closed', null, null, null, 0, 100), 'none');
select probe.expect('whole', (select concat_ws(' ', d ->> 'bizId', d ->> 'state', d -> 'claim' ->> 'status', json_array_length(d -> 'history'), d -> 'history' -> 1 ->> 'attempt',
                                               d -> 'history' -> 0 ->> 'durationMs', json_array_length(d -> 'letters'))
  from (select s.doc::json as d from letters l, largesse.dead_letter_show(l.id) s where l.code = 'a' and l.user_id = 1) x), 'b1 open issuing 2 2 2 0');
select probe.expect('unreadable', (select doc::json ->> 'body' from letters l, largesse.dead_letter_show(l.id) where l.code is null), 'xx');
select probe.expect('unknown letter', (select count(*)::text from largesse.dead_letter_show(999)), '0');
select probe.expect('by claim', (select string_agg(coalesce((letter_id = l.id)::text, 'none'), ' ')
  from letters l, largesse.dead_letter_of_claims(array[l.activity_id, 1], array[l.claim_id, 1]) where l.code = 'a' and l.user_id = 2), 'true none');

create function pg_temp.retried(i_ids bigint[], i_provider text, i_cause text, i_activity text, i_after bigint, i_limit int, i_dry boolean) returns text language sql as $$
  select coalesce(string_agg(coalesce(l.code || l.user_id, case when r.outcome = 'not_found' then 'nobody' else 'unreadable' end) || ' ' || r.outcome, ', ' order by r.letter_id), 'none')
    from largesse.dead_letter_retry_where(i_ids, i_provider, i_cause, i_activity, i_after, i_limit, 'alice', 'why', i_dry) r left join letters l on l.id = r.letter_id
$$;
select probe.expect('preview', pg_temp.retried(null, null, 'even', 'a', 0, 100, true), 'a2 retried, a4 retried');
select probe.expect('preview again', pg_temp.retried(null, null, 'even', 'a', 0, 100, true), 'a2 retried, a4 retried');
reset role;
-- Meanwhile one is delivered after all: by hand in one case, so that its letter is still open.
update largesse.claim set status = 'succeeded', review_since = null where activity_id = (select id from largesse.activity where code = 'a') and user_id = 4;
select largesse.claim_move(array[activity_id], array[claim_id], 'succeeded', null, null, null) from letters where code = 'a' and user_id = 3;
set role largesse_reconciler;
select probe.expect('preview tells', pg_temp.retried(null, null, 'even', 'a', 0, 100, true), 'a2 retried, a4 already_done');
select probe.expect('retry', pg_temp.retried(null, null, 'even', 'a', 0, 100, false), 'a2 retried, a4 already_done');
select probe.expect('twice', pg_temp.retried(null, null, 'even', 'a', 0, 100, false), 'none');
select probe.expect('by id', pg_temp.retried(array[999, (select id from letters where code = 'a' and user_id = 3), (select id from letters where code is null), (select id from letters where code = 'a' and user_id = 2)],
  null, null, null, 0, 100, false), 'a2 already_done, a3 already_done, unreadable not_retryable, nobody not_found');
select probe.expect('ids by page', pg_temp.retried(array(select id from letters where code = 'b'), null, null, null, (select id from letters where code = 'b' and user_id = 1), 2, true),
  'b2 retried, b3 retried');
select probe.expect('all that is left', pg_temp.retried(null, null, null, null, 0, 2, false), 'a1 retried, a5 retried');
select probe.expect('closed', (select concat_ws(' ', d ->> 'state', d ->> 'resolution', d ->> 'closedBy', d ->> 'reason')
  from (select s.doc::json as d from letters l, largesse.dead_letter_show(l.id) s where l.code = 'a' and l.user_id = 2) x), 'closed retried alice why');
reset role;
select probe.expect('due at once, ladder anew', (select (next_attempt_at <= largesse.clock_now()) || ' ' || attempts_before || ' ' || (review_since is null)
  from largesse.claim join letters l on l.activity_id = claim.activity_id and l.claim_id = claim.id where l.code = 'a' and l.user_id = 2), 'true 2 true');
