-- SPDX-License-Identifier: Apache-2.0
-- What protects a provider is moved by guarded statements, and every change is recorded with who and why.
create schema probe;
create function probe.same(i_what text, i_got anyelement, i_expected anyelement) returns void language plpgsql as $$
begin
  if i_got is distinct from i_expected then raise exception '%: expected %, got %', i_what, i_expected, i_got; end if;
end $$;
create function probe.state() returns text language sql as $$
  select concat_ws(' ', breaker, breaker_forced, breaker_opens, probe_by) from largesse.provider_state where provider = 'wallet'
$$;
create function probe.changes() returns text language sql as $$
  select string_agg(concat_ws(':', what, coalesce(from_value, '-'), coalesce(to_value, '-')), ' ' order by id) from largesse.provider_change where provider = 'wallet'
$$;
create function probe.move(i_instance text, i_to text, i_span interval default '5 s') returns boolean language sql volatile as $$
  select moved from largesse.provider_breaker('wallet', i_instance, i_to, i_span, '1 min', 'because')
$$;
create procedure probe.past(i_column text) language plpgsql as $$
begin
  execute format('update largesse.provider_state set %I = largesse.clock_now() - interval ''1 ms'' where provider = ''wallet''', i_column);
end $$;

-- Instances register; each learns how many share and which it is.
select probe.same('alone', (select concat_ws(' ', provider, is_paused, breaker, live, place) from
  largesse.provider_register('i1', '{wallet}', '{64}', '{0}', '{true}', '{true}', '{false}')), 'wallet f closed 1 0');
select probe.same('two', (select concat_ws(' ', live, place) from
  largesse.provider_register('i2', '{wallet,coupon}', '{32,8}', '{10,0}', '{true,false}', '{true,true}', '{false,true}') where provider = 'wallet'), '2 1');
select probe.same('the other provider is served by one', (select live from largesse.provider_poll('i2', '{coupon,wallet}') where provider = 'coupon'), 1);
select probe.same('first of two', (select concat_ws(' ', live, place) from largesse.provider_poll('i1', '{wallet}')), '2 0');
select probe.same('the newest configuration is shown', (select configured_concurrency from largesse.provider_state where provider = 'wallet'), 32);
select largesse.provider_register(null, '{wallet,later}', '{1,1}', '{0,0}', '{false,false}', '{false,false}', '{false,false}');
select probe.same('a command only makes missing rows', (select string_agg(provider || configured_concurrency, ' ' order by provider) from largesse.provider_state),
                'coupon8 later1 wallet32');
update largesse.fulfiller_instance set seen_at = seen_at - interval '10 s' where instance = 'i2';
select probe.same('the silent are not counted', (select live from largesse.provider_poll('i1', '{wallet}')), 1);
select largesse.provider_poll('i2', '{coupon,wallet}');

select probe.same('who leaves is gone at once', (select concat_ws(' ', largesse.provider_leave('i2'), largesse.provider_leave('i2'))), 't f');
select probe.same('alone again', (select live from largesse.provider_poll('i1', '{wallet}')), 1);
select largesse.provider_poll('i2', '{coupon,wallet}');

-- The breaker.
select probe.same('nobody probes what is closed', probe.move('i1', 'half_open'), false);
select probe.same('opens', probe.move('i1', 'open'), true);
select probe.same('opens once', probe.move('i2', 'open'), false);
select probe.same('too early', probe.move('i1', 'half_open'), false);
select probe.same('state', probe.state(), 'open f 1');
call probe.past('breaker_until');
select probe.same('one probe', probe.move('i1', 'half_open'), true);
select probe.same('only one', probe.move('i2', 'half_open'), false);
select probe.same('not mine to close', probe.move('i2', 'closed'), false);
select probe.same('not mine to open', probe.move('i2', 'open'), false);
select probe.same('mine', (select string_agg(concat_ws(' ', breaker, is_probe_mine), ',' order by i) from unnest(array['i1', 'i2']) i, largesse.provider_view(i, '{wallet}')),
                'half_open t,half_open f');
select probe.same('the prober opens again', probe.move('i1', 'open'), true);
select probe.same('doubled', (select extract(epoch from breaker_until - changed_at)::int from largesse.provider_state where provider = 'wallet'), 10);
call probe.past('breaker_until');
select probe.same('probe', probe.move('i2', 'half_open'), true);
select probe.same('a lapsed probe is taken over', (select probe.move('i1', 'half_open') from (values (1)) v), false);
call probe.past('probe_until');
select probe.same('taken over', probe.move('i1', 'half_open'), true);
select probe.same('given up', probe.move('i1', 'release'), true);
select probe.same('the next one probes', probe.move('i2', 'half_open'), true);
select probe.same('closes', probe.move('i2', 'closed'), true);
select probe.same('closed', probe.state(), 'closed f 0');
select probe.same('history', probe.changes(),
  'breaker:closed:open breaker:open:half_open breaker:half_open:open breaker:open:half_open breaker:half_open:closed');
do $$ begin
  for i in 1 .. 12 loop
    update largesse.provider_state set breaker = 'open', breaker_until = largesse.clock_now(), breaker_opens = i where provider = 'wallet';
    perform probe.move('i1', 'half_open');
    perform probe.move('i1', 'open');
  end loop;
end $$;
select probe.same('capped', (select extract(epoch from breaker_until - changed_at)::int from largesse.provider_state where provider = 'wallet'), 60);
update largesse.provider_state set breaker = 'closed', breaker_until = null, breaker_opens = 0, probe_by = null, probe_until = null;
truncate largesse.provider_change;

-- Pauses.
select probe.same('unknown', (select outcome from largesse.provider_pause('nobody', null, null, 'ann', 'x')), 'NOT_FOUND');
select probe.same('past', (select outcome from largesse.provider_pause('wallet', now() - interval '1 s', null, 'ann', 'x')), 'INVALID');
select probe.same('paused', (select concat_ws(' ', outcome, changed, doc::jsonb ->> 'state', doc::jsonb -> 'pausedUntil', doc::jsonb #>> '{lastChange,by}',
  doc::jsonb #>> '{lastChange,reason}') from largesse.provider_pause('wallet', null, null, 'ann', 'maintenance')), 'ok t paused null ann maintenance');
select probe.same('again', (select changed from largesse.provider_pause('wallet', null, null, 'ann', 'maintenance')), false);
select probe.same('seen', (select is_paused from largesse.provider_poll('i1', '{wallet}')), true);
select probe.same('held', largesse.provider_held(), array['wallet']);
select probe.same('a new end', (select changed from largesse.provider_pause('wallet', null, '1 hour', 'bob', null)), true);
select probe.same('resumed', (select concat_ws(' ', outcome, changed, doc::jsonb ->> 'state') from largesse.provider_resume('wallet', 'ann', 'done')), 'ok t serving');
select probe.same('already', (select changed from largesse.provider_resume('wallet', 'ann', 'done')), false);
select probe.same('not paused', (select is_paused from largesse.provider_poll('i1', '{wallet}')), false);
select probe.same('its queue still has everything', largesse.provider_held(), array['wallet']);
update largesse.provider_state set paused_until = paused_until - interval '6 s' where provider = 'wallet';
select probe.same('swept again', largesse.provider_held(), '{}'::text[]);
select probe.same('three changes', (select count(*)::int from largesse.provider_change), 3);

-- A breaker that lacks a claim to try with is swept for; one that waits is not.
select probe.move('i1', 'open');
select probe.same('open is held', largesse.provider_held(), array['wallet']);
update largesse.provider_state set breaker_until = largesse.clock_now() - interval '6 s' where provider = 'wallet';
select probe.same('nothing to probe with', largesse.provider_held(), '{}'::text[]);
update largesse.provider_state set breaker = 'closed', breaker_opens = 0 where provider = 'wallet';
truncate largesse.provider_change;

-- Limits and a breaker that people hold.
select probe.same('limits', (select concat_ws(' ', outcome, doc::jsonb -> 'concurrency' ->> 'inForce', doc::jsonb -> 'rate' ->> 'inForce')
  from largesse.provider_set('wallet', '8', '0.1', null, 'ann', 'asked by the provider')), 'ok 8 0.1');
select probe.same('fulfillers see them', (select concat_ws(' ', concurrency, rate_micro) from largesse.provider_poll('i1', '{wallet}')), '8 100000');
select probe.same('back to the configuration', (select concat_ws(' ', doc::jsonb -> 'concurrency' ->> 'inForce', doc::jsonb -> 'rate' ->> 'inForce')
  from largesse.provider_set('wallet', 'default', null, null, 'ann', 'x')), '32 0.1');
select probe.same('nonsense', (select count(*)::int from unnest(array['0', '4097', '-1', '1e3', '', '99999']) c, largesse.provider_set('wallet', c, null, null, 'a', 'x')
  where outcome = 'INVALID'), 6);
select probe.same('nonsense', (select count(*)::int from unnest(array['-1', '0.001', '1000001', 'x', 'NaN', '']) r, largesse.provider_set('wallet', null, r, null, 'a', 'x')
  where outcome = 'INVALID'), 6);
select probe.same('held open', (select doc::jsonb -> 'breaker' from largesse.provider_set('wallet', null, null, 'open', 'ann', 'x')),
                '{"held": true, "state": "open", "until": null}'::jsonb);
select probe.same('no probe', probe.move('i1', 'half_open'), false);
select probe.same('never by itself', (select breaker_left_ms from largesse.provider_poll('i1', '{wallet}')), null::bigint);
select probe.same('let go', (select doc::jsonb -> 'breaker' -> 'held' from largesse.provider_set('wallet', null, null, 'auto', 'ann', 'x')), 'false'::jsonb);
select probe.same('a probe at once', probe.move('i1', 'half_open'), true);
select probe.same('held closed', (select doc::jsonb -> 'breaker' from largesse.provider_set('wallet', null, null, 'closed', 'ann', 'x')),
                '{"held": true, "state": "closed", "until": null}'::jsonb);
select probe.same('stays closed', probe.move('i1', 'open'), false);
select largesse.provider_set('wallet', null, null, 'auto', 'ann', 'x');
select probe.same('may open', probe.move('i1', 'open'), true);
select probe.same('history', probe.changes(), 'concurrency:-:8 rate:-:0.1 concurrency:8:- breaker:closed:open breaker_hold:auto:open breaker_hold:open:auto '
  'breaker:open:half_open breaker:half_open:closed breaker_hold:auto:closed breaker_hold:closed:auto breaker:closed:open');
select probe.same('newest first', (select doc::jsonb ->> 'to' from largesse.provider_history('wallet', null, 1)), 'open');
select probe.same('pages', (select count(*)::int from largesse.provider_history('wallet', (select max(id) from largesse.provider_change), 100)), 10);
select probe.same('listed', (select string_agg(provider, ' ') from largesse.provider_list(null)), 'coupon later wallet');

-- Daemons have the rights they need, and no others.
set role largesse_fulfiller;
select count(*) from largesse.provider_poll('i1', '{wallet}');
reset role;
set role largesse_reconciler;
select count(*) from largesse.provider_list(null);
reset role;
