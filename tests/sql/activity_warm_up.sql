-- SPDX-License-Identifier: Apache-2.0
-- The report of a warm-up warns of what is missing; the claim of nobody, by which statements are planned on every connection, changes nothing of any kind of
-- activity; what starts soon is found.
create schema probe;
create function probe.expect(i_what text, i_actual text, i_expected text) returns void language plpgsql as $$
begin
  if i_actual is distinct from i_expected then raise exception '%: % instead of %', i_what, i_actual, i_expected; end if;
end $$;
create function probe.make(i_code text, i_kind text, i_start interval, i_change text default null) returns void language plpgsql as $$
begin
  perform largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
  perform largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
    'startAt', now() + i_start, 'endAt', now() + interval '1 day', 'stock', jsonb_build_object('total', 10)), 'test', null);
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
  execute format('update largesse.activity set kind = %L%s where code = %L', i_kind, coalesce(', ' || i_change, ''), i_code);
end $$;
create function probe.warnings(i_code text) returns text language sql as $$
  select coalesce((select string_agg(w ->> 'code', ',') from json_array_elements(u.report::json -> 'warnings') w), '') from largesse.activity_warm_up(i_code) u
$$;

select probe.make('open', 'reward', '-1 hour'), probe.make('split', 'reward', '-1 hour', 'segments = 4'), probe.make('places', 'registration', '-1 hour', 'waiting_max = 5'),
       probe.make('points', 'exchange', '-1 hour', 'points_cost = 10'), probe.make('numbers', 'number', '-1 hour'),
       probe.make('ruled', 'reward', '30 s', 'needs_qualification = true, channels = array[''APP''], eligibility = ''$.user.level > 3'', exclusive_group = ''g''');
insert into largesse.stock (activity_id, segment, remaining) select a.id, k, 0 from largesse.activity a, generate_series(1, 3) k where a.code = 'split';

select probe.expect('nobody serves it', probe.warnings('open'), 'PROVIDER_UNKNOWN');
select largesse.provider_register('there', array['simulator'], array[1], array[1], array[true], array[true], array[true]);
select probe.expect('ready', probe.warnings('open'), '');
select probe.expect('no numbers', probe.warnings('numbers'), 'NO_NUMBERS');
insert into largesse.activity_number (activity_id, number) select a.id, k from largesse.activity a, generate_series(1, 4) k where a.code = 'numbers';
select probe.expect('few numbers', probe.warnings('numbers'), 'NUMBERS_BELOW_STOCK');
select probe.expect('no qualifications', probe.warnings('ruled'), 'NO_QUALIFICATIONS');
insert into largesse.qualification (activity_id, user_id, created_at) select a.id, k, now() from largesse.activity a, generate_series(1, 11) k where a.code = 'ruled';
select probe.expect('many qualifications', probe.warnings('ruled'), 'STOCK_BELOW_QUALIFICATIONS');
update largesse.stock set remaining = 0 where activity_id = (select id from largesse.activity where code = 'open');
select largesse.activity_action('open', 'pause', 'test', 'tea', null);
update largesse.provider_state set paused_until = 'infinity' where provider = 'simulator';
select probe.expect('all at once', probe.warnings('open'), 'PAUSED,NO_STOCK,PROVIDER_PAUSED');
update largesse.fulfiller_instance set seen_at = now() - interval '1 minute';
select probe.expect('nobody left', probe.warnings('places'), 'PROVIDER_PAUSED,NO_FULFILLER');
select largesse.activity_action('open', 'resume', 'test', 'tea is over', null);
select probe.expect('no such activity', (select outcome || coalesce(report, '') from largesse.activity_warm_up('nowhere')), 'ACTIVITY_NOT_FOUND');
select probe.expect('report', (select u.provider || ' ' || (u.report::json #>> '{capacity,qualifications}') || ' ' || (u.report::json #>> '{capacity,stock,remaining}') from largesse.activity_warm_up('ruled') u), 'simulator 11 10');
select probe.expect('soon', (select string_agg(code, ',') from largesse.activity_starting('1 minute')), 'ruled');
select probe.expect('not so soon', (select string_agg(code, ',') from largesse.activity_starting('10 s')), null);

-- The claim of nobody.
create temp table before as select a.code, a.id, s.segment, s.remaining, s.taken, s.waiting from largesse.activity a join largesse.stock s on s.activity_id = a.id;
select probe.expect(a.code || ' submit', (select string_agg(c.ord::text, ',') from largesse.claim_submit(a.id, '{}', '{}', '{}', '{}', '5 s', null, null, null, case when a.segments > 1 then 0 end) c), '0')
  from largesse.activity a;
select probe.expect(a.code || ' look-up', (select string_agg(c.ord::text, ',') from largesse.claim_lookup(a.id, '{}', '{}', '{}', '{}', null, null) c), '0') from largesse.activity a;
select probe.expect(a.code || ' queue', (select string_agg(c.ord::text, ',') from largesse.claim_enqueue(a.id, '{}', '{}', '{}', '{}', null, null, '{}', 10, false) c), '0') from largesse.activity a;
select probe.expect('claims', (select count(*)::text from largesse.claim), '0');
select probe.expect('stock', (select count(*)::text from before b join largesse.stock s on s.activity_id = b.id and s.segment = b.segment
  where (s.remaining, s.taken, s.waiting) is not distinct from (b.remaining, b.taken, b.waiting)), (select count(*)::text from before));
