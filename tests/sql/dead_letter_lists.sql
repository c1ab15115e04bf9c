-- SPDX-License-Identifier: Apache-2.0
-- Dead letters as people see them: filters, pages, groups, everything about one, as the reconciler's role.
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
select largesse.dead_letter_open(array_agg(activity_id order by activity_id, user_id), array_agg(id order by activity_id, user_id),
    array_agg(case when user_id = 5 then 'other' else 'simulator' end order by activity_id, user_id),
    array_agg(case when user_id % 2 = 0 then 'even' else 'odd' end order by activity_id, user_id), null, array_fill('<b>'::text, array[10])) from largesse.claim;
select largesse.dead_letter_unreadable('simulator', 'unreadable', 'no JSON', 'xx');
insert into largesse.attempt select activity_id, id, n, 'deliver', 'simulator', now(), 1500, 'retry', 500, 'oops' from largesse.claim, generate_series(1, 2) n where user_id = 1;
create temp table letters as select d.id, c.user_id, a.code, d.activity_id, d.claim_id
  from largesse.dead_letter d left join largesse.claim c on c.activity_id = d.activity_id and c.id = d.claim_id left join largesse.activity a on a.id = d.activity_id;
grant select on letters to largesse_reconciler;

set role largesse_reconciler;
create function pg_temp.listed(i_state text, i_provider text, i_cause text, i_activity text, i_after bigint, i_limit int) returns text language sql as $$
  select coalesce(string_agg(coalesce(l.code || l.user_id, 'unreadable'), ' ' order by l.id), 'none')
    from largesse.dead_letter_list(i_state, i_provider, i_cause, i_activity, null, i_after, i_limit) d join letters l using (id)
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
select probe.expect('by claim', (select (largesse.dead_letter_of_claim(l.activity_id, l.claim_id) = l.id)::text from letters l where l.code = 'a' and l.user_id = 2), 'true');
select probe.expect('claim without letter', (select largesse.dead_letter_of_claim(1, 1)::text), null);
select probe.expect('groups', (select string_agg(concat_ws(' ', place, d ->> 'provider', d ->> 'fingerprint', d ->> 'count'), ', ' order by place)
  from (select g.place, g.doc::json as d from largesse.dead_letter_groups('open', null, null, null, null, 0, 10) g) x),
  '1 simulator odd: <b> 4, 2 simulator even: <b> 4, 3 other odd: <b> 2, 4 simulator unreadable: no JSON 1');
select probe.expect('groups by page', (select string_agg(doc::json ->> 'count', ' ' order by place) from largesse.dead_letter_groups('open', null, null, null, null, 2, 1)), '2');
select probe.expect('groups filtered', (select string_agg(concat(doc::json ->> 'count', ' ', (doc::json -> 'example' ->> 'id' = (select max(id)::text from letters where user_id = 5))), ' ' order by place)
  from largesse.dead_letter_groups('open', 'other', null, null, 'odd: <b>', 0, 10)), '2 t');
select probe.expect('by fingerprint', (select count(*)::text from largesse.dead_letter_list('open', null, null, 'a', 'odd: <b>', 0, 100)), '3');
