-- SPDX-License-Identifier: Apache-2.0
-- Each audit sees the one row that was damaged for it, and nothing else does.
create schema probe;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 50}'::jsonb,
  'limits', '[{"count": 2, "period": "total"}, {"count": 2, "period": "day"}]'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);
select largesse.claim_submit(id, array(select 'b' || n from generate_series(1, 20) n), array(select n::bigint from generate_series(1, 20) n),
    array_fill(1, array[20]), array_fill(null::text, array[20]), '5 s') from largesse.activity;
select largesse.claim_move(array_agg(activity_id), array_agg(id), 'succeeded', null, null, null) from largesse.claim where user_id <= 10;

create function probe.findings() returns text language sql as $$
  select coalesce(string_agg(d.name, ' ' order by d.name), 'none')
    from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id)
$$;
-- Does the damage, looks, and undoes it.
create procedure probe.damage(i_sql text, i_expected text) language plpgsql as $$
declare v_found text;
begin
  begin
    execute i_sql;
    v_found := probe.findings();
    raise exception 'undo' using errcode = 'P0099';
  exception when sqlstate 'P0099' then null;
  end;
  if v_found <> i_expected then raise exception 'after "%" expected %, found %', i_sql, i_expected, v_found; end if;
end $$;
call probe.damage('select 1', 'none');
call probe.damage('update largesse.stock set remaining = remaining - 1', 'stock_not_matching_claims');
call probe.damage('update largesse.stock set taken = taken + 1', 'stock_not_matching_claims');
call probe.damage('delete from largesse.stock', 'stock_not_matching_claims');
call probe.damage('update largesse.usage set used = 2 where user_id = 3 and period = ''day''', 'usage_not_matching_claims');
call probe.damage('delete from largesse.usage where user_id = 3 and period = ''total''', 'usage_not_matching_claims');
call probe.damage('update largesse.claim set created_at = now() + interval ''2 days'' where user_id = 4',
                  'claim_outside_window usage_not_matching_claims usage_not_matching_claims');
call probe.damage('update largesse.claim set created_at = (select end_at from largesse.activity) where user_id = 4; delete from largesse.usage where period = ''day''; delete from largesse.activity_limit where period = ''day''',
                  'claim_outside_window');
call probe.damage('update largesse.claim set review_since = now(), next_attempt_at = null where user_id = 15', 'claim_under_review_without_dead_letter');
call probe.damage('insert into largesse.dead_letter (activity_id, claim_id, provider, cause, opened_at) select activity_id, id, ''simulator'', ''x'', now() from largesse.claim where user_id = 16',
                  'claim_under_review_without_dead_letter');
call probe.damage('update largesse.claim set next_attempt_at = null where user_id = 17', 'claim_nobody_will_look_at');
call probe.damage('update largesse.claim set next_attempt_at = now() where user_id = 1', 'claim_nobody_will_look_at');
call probe.damage('select largesse.claim_move(array_agg(activity_id), array_agg(id), ''failed'', null, null, null) from largesse.claim where user_id = 19; insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome) select activity_id, id, 1, ''deliver'', ''simulator'', now(), 1, ''done'' from largesse.claim where user_id in (1, 19)',
                  'claim_failed_but_delivered');
call probe.damage('delete from largesse.claim where user_id = 18', 'stock_not_matching_claims usage_not_matching_claims usage_not_matching_claims');
call probe.damage('update largesse.claim set status = ''failed'', next_attempt_at = null where user_id = 18', 'stock_not_matching_claims usage_not_matching_claims usage_not_matching_claims');
