-- SPDX-License-Identifier: Apache-2.0
-- What the tests in a browser build their worlds of: activities, claims with their deliveries, dead letters. Owner: tests/browser.
create schema world;

-- An activity that is published, and open if its time has come; i_more wins over what is built in.
create function world.activity(i_code text, i_name text, i_total bigint, i_more jsonb default '{}') returns void language plpgsql as $$
declare
  v_made record;
begin
  select * into v_made from largesse.activity_put((jsonb_build_object('code', i_code, 'name', i_name, 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'startAt', now() - interval '3 days', 'endAt', now() + interval '9 hours',
    'rewardCode', 'voucher', 'stock', jsonb_build_object('total', i_total), 'limits', '[{"count": 2, "period": "total"}]'::jsonb) || i_more) - case when i_more -> 'rewardCode' = 'null' then 'rewardCode' else '' end, 'adam', null, 'the festival''s plan');
  if v_made.outcome <> 'created' then raise exception '%: % %', i_code, v_made.outcome, v_made.detail; end if;
  perform largesse.activity_action(i_code, 'publish', 'adam', 'checked by two', null);
end $$;
create function world.id(i_code text) returns bigint language sql stable as $$ select a.id from largesse.activity a where a.code = i_code $$;

-- Claims of users i_first …: bizId click-<user>. Numbers where the activity sells them.
create function world.submit(i_code text, i_first int, i_count int, i_numbers bigint[] default null) returns void language plpgsql as $$
declare
  v_refused text;
begin
  select string_agg(distinct s.verdict || coalesce(': ' || s.detail, ''), ', ') into v_refused
    from largesse.claim_submit(world.id(i_code), array(select 'click-' || u from generate_series(i_first, i_first + i_count - 1) u), array(select u::bigint from generate_series(i_first, i_first + i_count - 1) u),
           array_fill(1, array[i_count]), array_fill('APP'::text, array[i_count]), '1 h', case when i_numbers is not null then array(select generate_series(1, i_count)) end, i_numbers) s
   where s.ord > 0 and s.verdict <> 'ACCEPTED';
  if v_refused is not null then raise exception '%: %', i_code, v_refused; end if;
end $$;

-- Delivered by the provider of the activity's reward, as the record of attempts says too.
create function world.deliver(i_code text, i_first int, i_count int) returns void language plpgsql as $$
declare
  v_id     bigint := world.id(i_code);
  v_claims bigint[] := array(select c.id from largesse.claim c where c.activity_id = v_id and c.user_id between i_first and i_first + i_count - 1 and c.status in ('issuing', 'held') order by c.id);
  v_keys   bigint[] := array_fill(v_id, array[cardinality(v_claims)]);
begin
  if (select a.payment_id is not null from largesse.activity a where a.id = v_id) then
    perform largesse.claim_paid(v_keys, v_claims, array(select 'pay-' || c from unnest(v_claims) c));
    insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
      select v_id, c, 1, 'charge', 'simulator', now() - interval '1 s', 40000 + c % 90 * 1000, 'done' from unnest(v_claims) c;
  end if;
  insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
    select v_id, c.id, 2, 'deliver', w.provider, now() - interval '1 s', 30000 + c.id % 200 * 1000, 'done' from largesse.claim c join largesse.reward w on w.id = c.reward_id
     where c.activity_id = v_id and c.id = any (v_claims);
  update largesse.claim c set attempts = 2 where c.activity_id = v_id and c.id = any (v_claims);
  perform largesse.claim_move(v_keys, v_claims, 'succeeded', array(select 'ref-' || c from unnest(v_claims) c), null, null);
end $$;

-- What is open of these users waits for a person: letters, each after i_attempts calls that were answered so.
create function world.letters(i_code text, i_first int, i_count int, i_cause text, i_answer text, i_detail text, i_attempts int default 4) returns void language plpgsql as $$
declare
  v_id bigint := world.id(i_code);
begin
  update largesse.claim c set review_since = now(), review_cause = i_cause, next_attempt_at = null, lease_until = null, attempts = i_attempts, step = case when i_cause = 'unknown' then 'inquire' else 'deliver' end,
         outcome = case when i_cause = 'unknown' then 'unknown' when i_cause = 'refused' then 'refused' else 'retry' end
   where c.activity_id = v_id and c.user_id between i_first and i_first + i_count - 1 and c.status = 'issuing';
  insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome, http_status, code, detail, request, answer)
    select v_id, c.id, n, 'deliver', w.provider, now() - (i_attempts - n) * interval '4 minutes', 120000 + n * 1000, c.outcome, case when i_cause = 'unknown' then null else 503 end, i_answer, i_detail,
           format('{"requestId": "%s-%s", "userId": %s, "amount": %s, "currency": "%s"}', v_id, c.id, c.user_id, w.amount, w.currency), case when i_cause <> 'unknown' then format('{"code": "%s", "message": "%s"}', i_answer, i_detail) end
      from largesse.claim c join largesse.reward w on w.id = c.reward_id, generate_series(1, i_attempts) n
     where c.activity_id = v_id and c.review_since is not null and c.user_id between i_first and i_first + i_count - 1;
  perform largesse.dead_letter_open(array_agg(c.activity_id), array_agg(c.id), array_agg(w.provider), array_agg(i_cause), array_agg(i_answer), array_agg(i_detail))
     from largesse.claim c join largesse.reward w on w.id = c.reward_id where c.activity_id = v_id and c.review_since is not null and c.user_id between i_first and i_first + i_count - 1;
end $$;

select largesse.reward_put('voucher', 'simulator', 1800, 'CNY', '{}'), largesse.reward_put('tea', 'simulator-b', 1250, 'KWD', '{}'), largesse.event_put('lanterns-2026', 'Lantern Festival', 'Asia/Shanghai');
