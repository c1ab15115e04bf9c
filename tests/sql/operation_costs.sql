-- SPDX-License-Identifier: Apache-2.0
-- What a step of an operation reads depends on how many items it does, not on how many there are: a plan that walks through all claims of the activity, all
-- letters or all items shows here as rows fetched. Young statistics and fresh ones.
create schema probe;
select largesse.reward_put('good', 'reverses', 100, 'CNY', '{}');
select largesse.provider_register('f1', array['reverses'], array[4], array[0], array[true], array[true], array[true]);
select largesse.activity_put(jsonb_build_object('code', 'a', 'name', 'a', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'good',
  'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 100000}'::jsonb), 'test', null);
select largesse.activity_action('a', 'publish', 'test', null, null);
do $$ begin
  for k in 0..11 loop
    perform largesse.claim_submit(a.id, array(select 'b' || k * 1000 + n from generate_series(1, 1000) n), array(select k * 1000::bigint + n from generate_series(1, 1000) n),
      array_fill(1, array[1000]), array_fill(null::text, array[1000]), '1 h') from largesse.activity a;
  end loop;
end $$;
update largesse.claim c set review_since = now(), review_cause = (array['again', 'sure', 'doubt', 'known'])[1 + user_id % 4], next_attempt_at = null, attempts = 4,
  step = case user_id % 4 when 1 then 'deliver' else 'inquire' end;
select largesse.dead_letter_open(array_agg(activity_id), array_agg(id), array_agg('reverses'::text), array_agg(review_cause), array_agg(null::text), array_agg('x'::text)) from largesse.claim;

create function probe.rows_read() returns bigint language sql as $$
  select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables
   where schemaname = 'largesse' and relname ~ '^(claim_[0-9]|usage_[0-9]|dead_letter|operation_item)'
$$;
create function probe.drive(i_kind text, i_cause text, i_outcome text) returns void language plpgsql as $$
declare
  v_id bigint := (select operation_id from largesse.operation_begin(i_kind, null, null, null, null, i_cause, null, null, 'test', 'x', 'p', true, 10000, null));
  v_before bigint;
  v_step record;
begin
  for k in 1 .. 5 loop
    v_before := probe.rows_read();
    select * into strict v_step from largesse.operation_step(v_id, 100);
    if v_step.items is distinct from 100 or v_step.outcome <> i_outcome then raise exception '% step %: %', i_kind, k, v_step; end if;
    if probe.rows_read() - v_before > 2000 then raise exception '% step % of % items read % rows', i_kind, k, v_step.total, probe.rows_read() - v_before; end if;
  end loop;
  perform largesse.operation_cancel(v_id, 'test', 'x');
end $$;
select probe.drive('retry', 'again', 'retried'), probe.drive('refund', 'sure', 'refunded'), probe.drive('refund', 'doubt', 'reversing'), probe.drive('resolve', 'known', 'resolved');
analyze;
select probe.drive('retry', 'again', 'retried'), probe.drive('refund', 'sure', 'refunded'), probe.drive('refund', 'doubt', 'reversing'), probe.drive('resolve', 'known', 'resolved');
