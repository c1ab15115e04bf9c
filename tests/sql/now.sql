-- SPDX-License-Identifier: Apache-2.0
-- What the console's first page is told, and dead letters in each order, as the reconciler's role; 100,000 letters. How much of them is read: operation_previews.sql.
create schema probe;
grant usage on schema probe to largesse_reconciler;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', c, 'name', c, 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
  'startAt', now() + case c when 'later' then interval '1 hour' else interval '-1 hour' end, 'endAt', now() + interval '1 day',
  'stock', '{"total": 100000}'::jsonb, 'limits', '[]'::jsonb), 'test', null) from unnest(array['draft', 'later', 'live']) c;
select largesse.activity_action(c, 'publish', 'test', null, null) from unnest(array['later', 'live']) c;
select largesse.activity_advance(100);

set role largesse_reconciler;
select probe.expect('no rate before two looks', (select doc::json -> 'activities' -> 0 -> 'perMinute' ->> 'accepted' from largesse.now(50)), '0');
select largesse.activity_sample();
reset role;
-- As if the look had been two minutes ago.
update largesse.activity_minute set minute = minute - interval '2 minutes';
select largesse.claim_submit(id, array['a', 'b', 'c'], array[1, 2, 3]::bigint[], array[1, 1, 5], array_fill(null::text, array[3]), '5 s') from largesse.activity where code = 'live';
select largesse.refusal_add(array[id], array['SOLD_OUT'], array[4::bigint]) from largesse.activity where code = 'live';
set role largesse_reconciler;
create temp table seen as select doc::json as d from largesse.now(50);
select probe.expect('live first, then what comes, no drafts', (select string_agg(a ->> 'code', ' ') from seen, json_array_elements(d -> 'activities') a), 'live later');
select probe.expect('units of the present minute, and refusals', (select concat_ws(' ', d #>> '{activities,0,perMinute,accepted}', d #>> '{activities,0,perMinute,refused}') from seen), '7 4');
select probe.expect('half an hour', (select concat_ws(' ', json_array_length(d #> '{activities,0,lastMinutes}'), d #>> '{activities,0,lastMinutes,29,accepted}',
  d #>> '{activities,0,lastMinutes,28,accepted}') from seen), '30 7 0');
select probe.expect('availability', (select concat_ws(' ', d #>> '{activities,0,availability,issued}', d #>> '{activities,0,availability,remaining}') from seen), '7 99993');
select probe.expect('counts', (select d ->> 'counts' from seen)::jsonb::text, '{"ongoing": 1, "published": 1}');
select probe.expect('nobody is there', (select concat_ws(' ', d #>> '{lag,schedulers}', d #>> '{lag,transitionSeconds}', d ->> 'findings', d ->> 'operations') from seen), '0 0 0 0');
select probe.expect('a limit', (select json_array_length(doc::json -> 'activities')::text from largesse.now(1)), '1');
reset role;
update largesse.activity_minute set minute = minute - interval '1 hour';
select largesse.activity_sample();

-- 100,000 letters and some that are closed.
alter table largesse.dead_letter disable trigger dead_letter_attempts;
insert into largesse.dead_letter (attempts, provider, cause, fingerprint, opened_at, closed_at, closed_by, resolution)
  select n % 7, case n % 3 when 0 then 'other' else 'simulator' end, 'attempts_exhausted', 'attempts_exhausted: ' || n % 20, now() - n * interval '1 second',
         case when n > 100000 then now() end, case when n > 100000 then 'test' end, case when n > 100000 then 'retried' end from generate_series(1, 130000) n;
create temp table odd as select min(id) as first, max(id) filter (where closed_at is null) as last from largesse.dead_letter;
grant select on odd to largesse_reconciler;
vacuum analyze largesse.dead_letter;

set role largesse_reconciler;
create function pg_temp.page(i_sort text, i_state text, i_after text, i_limit int) returns text language sql as $$
  select string_agg(concat(d.doc::json ->> 'attempts', '#', (d.doc::json ->> 'id')::bigint - (select first from odd)), ' ' order by n)
    from largesse.dead_letter_sorted(i_sort, i_state, null, null, null, null, i_after, i_limit) with ordinality d(place, doc, n)
$$;
select probe.expect('oldest first', pg_temp.page('openedAt', 'open', '', 3), '#0 #1 #2');
select probe.expect('newest first', pg_temp.page('-openedAt', 'open', '', 2), '#99999 #99998');
select probe.expect('newest first, next page', pg_temp.page('-openedAt', 'open', (select last - 1 from odd)::text, 2), '#99997 #99996');
select probe.expect('closed', (select count(*)::text from largesse.dead_letter_sorted('openedAt', 'closed', 'other', null, null, null, '', 1000)), '1000');
-- Every letter once, in order, whatever the direction.
create function pg_temp.walk(i_sort text) returns text language plpgsql as $$
declare
  v_after text := '';
  v_last  text;
  v_ids   bigint[] := '{}';
  v_page  bigint[];
begin
  loop
    select array_agg((doc::json ->> 'id')::bigint order by n), max(place) filter (where n = 900) into v_page, v_last
      from largesse.dead_letter_sorted(i_sort, 'open', null, null, null, 'attempts_exhausted: 3', v_after, 900) with ordinality d(place, doc, n);
    v_ids := v_ids || v_page;
    exit when v_last is null;
    v_after := v_last;
  end loop;
  return cardinality(v_ids) || ' ' || (select count(distinct i) from unnest(v_ids) i);
end $$;
select probe.expect('all of them by attempts', pg_temp.walk('-attempts'), '5000 5000');
do $$
begin
  perform largesse.dead_letter_sorted('attempts', 'open', null, null, null, null, '17', 1);
  raise exception 'a place of another order was taken';
exception when invalid_parameter_value then null;
end $$;
