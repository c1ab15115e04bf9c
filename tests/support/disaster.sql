-- SPDX-License-Identifier: Apache-2.0
-- A disaster for test_disaster: thirty activities of all kinds with consistent books, statements of two providers about them, and forty faults planted in both, each
-- written down with the findings that it must lead to. Everything happened yesterday, in the zone of the statements.
create schema disaster;
create table disaster.expected (fault int, what text, kind text, activity_id bigint, claim_id bigint, key_ends text, left_to text);  -- left_to: repair, person, statement, answer
create table disaster.line (provider text, seq int generated always as identity, request_id text, user_id bigint, type text, amount bigint, currency text, at timestamptz, ref text);
create index line_by_request on disaster.line (request_id);
create table disaster.repaired_line (provider text, request_id text, amount bigint);  -- what the provider's corrected statement says

create function disaster.zone() returns text language sql immutable as $$ select 'America/Vancouver' $$;
create function disaster.day() returns date language sql stable as $$ select (now() at time zone disaster.zone())::date - 1 $$;
create function disaster.at(i_time text) returns timestamptz language sql stable as $$ select (disaster.day() + i_time::time) at time zone disaster.zone() $$;
create function disaster.activity(i_n int) returns bigint language sql stable as $$ select a.id from largesse.activity a where a.code = 'd' || i_n $$;
create function disaster.claim(i_n int, i_i int) returns bigint language sql stable as $$
  select c.id from largesse.claim c where c.activity_id = disaster.activity(i_n) and c.user_id = i_n * 1000000 + i_i order by c.id limit 1
$$;
create function disaster.request(i_n int, i_i int, i_suffix text default '') returns text language sql stable as $$
  select disaster.activity(i_n) || '-' || disaster.claim(i_n, i_i) || i_suffix
$$;

-- --- books in which nothing is wrong

create function disaster.doc(i_n int, i_each int) returns jsonb language sql stable as $$
  select jsonb_build_object('code', 'd' || i_n, 'name', 'disaster ' || i_n, 'kind', 'reward', 'timeZone', disaster.zone(), 'startAt', now() - interval '10 days', 'endAt', now() + interval '1 day',
           'rewardCode', case when i_n > 26 then 'dinar' else 'yen' end, 'stock', jsonb_build_object('total', i_each + 20), 'limits', '[{"count": 2, "period": "total"}]'::jsonb)
         || case when i_n in (19, 20) then '{"eventCode": "fest", "exclusiveGroup": "mall", "needsQualification": true, "limits": [{"count": 2, "period": "event"}]}'::jsonb
                 when i_n in (21, 22) then '{"kind": "exchange", "pointsCost": 100}'
                 when i_n in (23, 24) then '{"kind": "number", "stock": {"total": null}, "price": {"amount": 700, "currency": "JPY"}, "paymentProvider": "simulator"}'
                 when i_n in (25, 26) then jsonb_build_object('kind', 'registration', 'stock', jsonb_build_object('total', i_each), 'waitingList', '{"max": 50}'::jsonb)
                 else '{}' end
$$;
create function disaster.submit(i_n int, i_first int, i_last int) returns void language plpgsql as $$
declare
  v_users bigint[] := array(select i_n * 1000000 + i from generate_series(i_first, i_last) i);
  v_count int := i_last - i_first + 1;
  v_refused text;
begin
  if i_n in (19, 20) then perform largesse.qualification_import('d' || i_n, v_users, null, null, null); end if;
  if i_n in (21, 22) then
    perform largesse.points_grant_many(array(select generate_series(1, v_count)), v_users, array_fill('gift'::text, array[v_count]), array_fill(500::bigint, array[v_count]),
                                       array_fill('gift'::text, array[v_count]), 'test');
  end if;
  if i_n in (23, 24) then perform largesse.numbers_add('d' || i_n, null, i_first, i_last, 'test'); end if;
  select string_agg(distinct s.verdict || coalesce(': ' || s.detail, ''), ', ') into v_refused
    from largesse.claim_submit(disaster.activity(i_n), array(select 'b' || u from unnest(v_users) u), v_users, array_fill(1, array[v_count]), array_fill(null::text, array[v_count]), '1 h',
           case when i_n in (23, 24) then array(select generate_series(1, v_count)) end, case when i_n in (23, 24) then array(select generate_series(i_first, i_last)::bigint) end) s
   where s.ord > 0 and s.verdict <> 'ACCEPTED';
  if v_refused is not null then raise exception 'd%: %', i_n, v_refused; end if;
end $$;
-- Paid and delivered, as the record of attempts says too.
create function disaster.deliver(i_activity bigint, i_claims bigint[]) returns void language plpgsql as $$
declare
  v_keys   bigint[] := array_fill(i_activity, array[cardinality(i_claims)]);
  v_is_paid boolean := (select a.payment_id is not null from largesse.activity a where a.id = i_activity);
begin
  if v_is_paid then
    perform largesse.claim_paid(v_keys, i_claims, array(select 'pay-' || c from unnest(i_claims) c));
    insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
      select i_activity, c, 1, 'charge', 'simulator', disaster.at('08:00'), 1000, 'done' from unnest(i_claims) c;
  end if;
  insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
    select i_activity, c.id, 2, 'deliver', w.provider, disaster.at('08:00'), 1000, 'done' from largesse.claim c join largesse.reward w on w.id = c.reward_id
     where c.activity_id = i_activity and c.id = any (i_claims);
  update largesse.claim c set attempts = 2 where c.activity_id = i_activity and c.id = any (i_claims);
  perform largesse.claim_move(v_keys, i_claims, 'succeeded', array(select 'ref-' || c from unnest(i_claims) c), null, null);
end $$;
create procedure disaster.make(i_each int) language plpgsql as $$
declare
  v_made   record;
  v_claims bigint[];
begin
  perform largesse.reward_put('yen', 'simulator', 500, 'JPY', '{}'), largesse.reward_put('dinar', 'simulator-b', 1250, 'KWD', '{}'), largesse.event_put('fest', 'Festival', disaster.zone());
  for n in 1 .. 30 loop
    select * into v_made from largesse.activity_put(disaster.doc(n, i_each), 'test', null);
    if v_made.outcome <> 'created' then raise exception 'd%: % %', n, v_made.outcome, v_made.detail; end if;
    perform largesse.activity_action('d' || n, 'publish', 'test', null, null);
    for f in 1 .. i_each by 500 loop
      perform disaster.submit(n, f, least(f + 499, i_each));
      v_claims := array(select c.id from largesse.claim c where c.activity_id = disaster.activity(n) and c.status in ('issuing', 'held') order by c.id);
      perform disaster.deliver(disaster.activity(n), v_claims);
      commit;
    end loop;
  end loop;
  perform disaster.submit(25, i_each + 1, i_each + 3);  -- who waits
  -- As if all of it had happened yesterday, one after the other.
  update largesse.claim c
     set created_at = t.at, issued_at = t.at, updated_at = t.at + interval '2 s', succeeded_at = case when c.succeeded_at is not null then t.at + interval '2 s' end,
         paid_at = case when c.paid_at is not null then t.at + interval '1 s' end
    from (select k.activity_id, k.id, disaster.at('08:00') + (row_number() over (order by k.activity_id, k.id)) * (interval '12 hours' / (i_each * 31)) as at from largesse.claim k) t
   where c.activity_id = t.activity_id and c.id = t.id and c.status <> 'waiting';
  commit;
end $$;

-- What must not be taken for a fault: a shop's customer who bought twice the same, deliveries around midnight, what was taken back in order, stock that was added, what is under way.
create function disaster.look_alikes() returns void language plpgsql as $$
declare
  v_twin bigint;
begin
  -- Two equal genuine payments of one user on one day; the provider's lines of them name no request.
  perform largesse.claim_submit(disaster.activity(30), '{twin}', '{30000001}', '{1}', '{null}', '1 h');
  select c.id into v_twin from largesse.claim c where c.activity_id = disaster.activity(30) and c.biz_id = 'twin';
  perform disaster.deliver(disaster.activity(30), array[v_twin]);
  update largesse.claim c set created_at = disaster.at('13:00'), issued_at = disaster.at('13:00'), updated_at = disaster.at('13:00:02'), succeeded_at = disaster.at('13:00:02')
   where c.activity_id = disaster.activity(30) and c.id = v_twin;
  -- In flight over midnight, both ways: here yesterday and there today, here today and there yesterday.
  update largesse.claim c set succeeded_at = disaster.at('23:59:59.4'), updated_at = disaster.at('23:59:59.4') where c.activity_id = disaster.activity(7) and c.id = disaster.claim(7, 8);
  update largesse.claim c set succeeded_at = disaster.at('00:00') + interval '1 day 1 second', updated_at = disaster.at('00:00') + interval '1 day 1 second'
   where c.activity_id = disaster.activity(8) and c.id = disaster.claim(8, 8);
  -- Taken back at the provider, and given back here.
  perform largesse.claim_move(array[disaster.activity(9)], array[disaster.claim(9, 8)], 'rolled_back', null, null, null);
  update largesse.claim c set reversal = 'done', reversal_since = disaster.at('21:00'), reversed_at = disaster.at('21:00:01'), updated_at = disaster.at('21:00:01')
   where c.activity_id = disaster.activity(9) and c.id = disaster.claim(9, 8);
  insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
    select c.activity_id, c.id, 3, 'reverse', w.provider, disaster.at('21:00:01'), 2000, 'done'
      from largesse.claim c join largesse.reward w on w.id = c.reward_id where c.activity_id = disaster.activity(9) and c.id = disaster.claim(9, 8);
  -- Refused for good, with everything given back; of an exchange the points too.
  perform largesse.claim_submit(disaster.activity(n), array['refused'], array[n * 1000000 + 1], '{1}', '{null}', '1 h') from unnest(array[10, 22]) n;
  perform largesse.claim_move(array[c.activity_id], array[c.id], 'failed', null, '{OUT_OF_ORDER}', '{null}') from largesse.claim c where c.biz_id = 'refused';
  perform largesse.stock_adjust('d' || n, 'more', n, 'more of it', 'test') from generate_series(11, 14) n;
  -- Accepted a moment ago.
  perform largesse.claim_submit(disaster.activity(15), '{new}', '{15000001}', '{1}', '{null}', '1 h');
end $$;

-- The provider's own books of the same.
create function disaster.write_lines() returns void language sql as $$
  insert into disaster.line (provider, request_id, user_id, type, amount, currency, at, ref)
  select w.provider, c.activity_id || '-' || c.id, c.user_id, 'credit', w.amount, w.currency, c.succeeded_at - interval '100 ms', 'c' || c.id
    from largesse.claim c join largesse.reward w on w.id = c.reward_id where c.succeeded_at is not null
  union all
  select w.provider, c.activity_id || '-' || c.id || '-p', c.user_id, 'payment', w.amount, w.currency, c.paid_at - interval '100 ms', 'p' || c.id
    from largesse.claim c join largesse.reward w on w.id = c.payment_id where c.paid_at is not null
  union all
  select w.provider, c.activity_id || '-' || c.id || '-r', c.user_id, 'reverse', w.amount, w.currency, c.reversed_at - interval '100 ms', 'r' || c.id
    from largesse.claim c join largesse.reward w on w.id = c.reward_id where c.reversed_at is not null;
  update disaster.line l set request_id = '' where l.provider = 'simulator-b' and l.user_id = 30000001;
  update disaster.line l set at = disaster.at('00:00') + interval '1 day 2 seconds' where l.request_id = disaster.request(7, 8);
  update disaster.line l set at = disaster.at('23:59:58') where l.request_id = disaster.request(8, 8);
$$;
-- A day's statement. i_is_corrected: as the provider sends it again after it was asked.
create function disaster.statement(i_provider text, i_date date, i_is_corrected boolean) returns text language sql stable as $$
  select E'requestId,userId,type,amount,currency,at,ref\n'
         || coalesce(string_agg(concat_ws(',', l.request_id, l.user_id, l.type, l.amount, l.currency, largesse.time_text(l.at), l.ref), E'\n' order by l.at, l.seq) || E'\n', '')
    from (select l.seq, l.request_id, l.user_id, l.type, coalesce(r.amount, l.amount) as amount, l.currency, l.at, l.ref
            from disaster.line l left join disaster.repaired_line r on i_is_corrected and r.provider = l.provider and r.request_id = l.request_id
           where l.provider = i_provider and (l.at at time zone disaster.zone())::date = i_date
          union all
          select 0, c.activity_id || '-' || c.id, c.user_id, 'credit', w.amount, w.currency, c.succeeded_at, 'late' || c.id
            from disaster.repaired_line r join largesse.claim c on c.activity_id || '-' || c.id = r.request_id join largesse.reward w on w.id = c.reward_id
           where i_is_corrected and r.provider = i_provider and (c.succeeded_at at time zone disaster.zone())::date = i_date
             and not exists (select from disaster.line l where l.request_id = r.request_id)) l
$$;

-- --- what goes wrong

create function disaster.note(i_fault int, i_what text, i_kind text, i_n int, i_i int default null, i_left_to text default 'repair', i_key_ends text default null) returns void language sql as $$
  insert into disaster.expected
    values (i_fault, i_what, i_kind, case when i_n is not null then disaster.activity(i_n) end, case when i_i is not null then disaster.claim(i_n, i_i) end, i_key_ends, i_left_to)
$$;
-- Of the database.
create function disaster.plant_rows() returns void language plpgsql as $$
declare
  v_claim bigint;
begin
  for f in 1 .. 3 loop
    perform disaster.note(f, 'stock without record', 'stock_not_matching_claims', f);
    update largesse.stock s set remaining = s.remaining - f, taken = s.taken + f where s.activity_id = disaster.activity(f);
    perform disaster.note(f + 3, 'record without stock', 'stock_not_matching_claims', f + 3);
    update largesse.stock s set remaining = s.remaining + f, taken = s.taken - f where s.activity_id = disaster.activity(f + 3);
    perform disaster.note(f + 6, 'wrong initial stock', 'stock_not_matching_claims', f + 7);
    update largesse.stock s set remaining = s.remaining + 7 - 3 * f where s.activity_id = disaster.activity(f + 7);
    perform disaster.note(f + 9, 'edited rows: a counter', 'usage_not_matching_claims', f + 10, null, 'repair', format('usage user %s total -infinity', (f + 10) * 1000000 + 2));
    update largesse.usage u set used = f - 1 + case f when 2 then 1 else 0 end where u.activity_id = disaster.activity(f + 10) and u.user_id = (f + 10) * 1000000 + 2 and f <> 3;
    delete from largesse.usage u where u.activity_id = disaster.activity(13) and u.user_id = 13000002 and f = 3;
  end loop;
  -- A record that is lost: its stock is taken, its user's allowance too, and the provider has delivered.
  perform disaster.note(13, 'record lost', 'stock_not_matching_claims', 7), disaster.note(13, 'record lost', 'usage_not_matching_claims', 7, null, 'repair', 'usage user 7000003 total -infinity'),
          disaster.note(13, 'record lost', 'statement_missing_here', null, null, 'person', disaster.request(7, 3));
  delete from largesse.attempt t where t.activity_id = disaster.activity(7) and t.claim_id = disaster.claim(7, 3);
  delete from largesse.claim c where c.activity_id = disaster.activity(7) and c.id = disaster.claim(7, 3);
  -- Set to succeeded by hand.
  for n in 14 .. 15 loop
    perform disaster.note(n, 'edited rows: a state', 'claim_succeeded_without_delivery', n, 3, 'person'), disaster.note(n, 'edited rows: a state', 'statement_missing_at_provider', n, 3, 'person');
    delete from largesse.attempt t where t.activity_id = disaster.activity(n) and t.claim_id = disaster.claim(n, 3);
    delete from disaster.line l where l.request_id = disaster.request(n, 3);
  end loop;
  -- Callbacks that were lost: the provider has done it, and nobody told us; or nobody would even ask.
  perform disaster.note(16, 'lost callback', 'claims_stuck', 16, null, 'answer', 'stuck at simulator: last outcome pending');
  update largesse.claim c set status = 'issuing', succeeded_at = null, outcome = 'pending', step = 'inquire', next_attempt_at = now() + interval '6 hours'
   where c.activity_id = disaster.activity(16) and c.id in (disaster.claim(16, 3), disaster.claim(16, 4));
  for n in 17 .. 18 loop
    perform disaster.note(n, 'lost callback', 'claim_nobody_will_look_at', n, 3, 'answer');
    update largesse.claim c set status = 'issuing', succeeded_at = null, outcome = 'unknown', step = 'inquire', next_attempt_at = null
     where c.activity_id = disaster.activity(n) and c.id = disaster.claim(n, 3);
  end loop;
  delete from largesse.attempt t using largesse.claim c where t.activity_id = c.activity_id and t.claim_id = c.id and c.status = 'issuing' and t.step = 'deliver';
  perform disaster.note(19, 'edited rows: a qualification', 'qualification_not_matching_claims', 19, 3);
  update largesse.qualification q set claim_id = null where q.activity_id = disaster.activity(19) and q.user_id = 19000003;
  perform disaster.note(20, 'edited rows: a place in a group', 'group_member_not_matching_claims', 20, null, 'repair', 'group member 20000003');
  update largesse.group_member m set live = 2 where m.user_id = 20000003;
  perform disaster.note(21, 'edited rows: a counter of an event', 'event_usage_not_matching_claims', 19, null, 'repair', 'event usage user 19000004');
  update largesse.event_usage u set used = 2 where u.user_id = 19000004;
  perform disaster.note(22, 'edited rows: a balance', 'points_not_matching_ledger', 21, null, 'repair', 'points user 21000003');
  update largesse.points_account a set balance = balance + 1 where a.user_id = 21000003;
  select c.id into v_claim from largesse.claim c where c.activity_id = disaster.activity(22) and c.biz_id = 'refused';
  insert into disaster.expected values (23, 'edited rows: points not returned', 'points_not_matching_claims', disaster.activity(22), v_claim, null, 'repair');
  delete from largesse.points_entry e where e.key = 'return/' || disaster.activity(22) || '-' || v_claim;
  update largesse.points_account a set balance = balance - 100 where a.user_id = 22000001;
  perform disaster.note(24, 'edited rows: a number', 'number_not_matching_claims', 23, 3), disaster.note(24, 'edited rows: a number', 'claim_sold_without_payment', 23, 3, 'answer');
  update largesse.activity_number n set status = 'available', claim_id = null where n.activity_id = disaster.activity(23) and n.claim_id = disaster.claim(23, 3);
  perform disaster.note(25, 'edited rows: a number', 'number_not_matching_claims', 24, 3), disaster.note(25, 'edited rows: a number', 'claim_sold_without_payment', 24, 3, 'answer');
  update largesse.activity_number n set status = 'held' where n.activity_id = disaster.activity(24) and n.claim_id = disaster.claim(24, 3);
  select e.claim_id into v_claim from largesse.waiting_entry e where e.activity_id = disaster.activity(25) order by e.position offset 1 limit 1;
  insert into disaster.expected values (26, 'edited rows: a place in the waiting list', 'waiting_list_not_matching_claims', disaster.activity(25), v_claim, null, 'repair'),
                                       (26, 'edited rows: a place in the waiting list', 'waiting_list_not_matching_claims', disaster.activity(25), null, 'waiting', 'repair');
  delete from largesse.waiting_entry e where e.activity_id = disaster.activity(25) and e.claim_id = v_claim;
  perform disaster.note(27, 'edited rows: a dead letter', 'claim_under_review_without_dead_letter', 26, 3);
  update largesse.claim c set status = 'issuing', succeeded_at = null, outcome = 'unknown', step = 'inquire', review_since = now(), review_cause = 'attempts_used_up'
   where c.activity_id = disaster.activity(26) and c.id = disaster.claim(26, 3);
  delete from disaster.line l where l.request_id = disaster.request(26, 3);
  delete from largesse.attempt t where t.activity_id = disaster.activity(26) and t.claim_id = disaster.claim(26, 3) and t.outcome = 'done';  -- nobody knows whether it was delivered
  perform disaster.note(28, 'edited rows: a time', 'claim_outside_window', 3, 9, 'person');
  update largesse.claim c set created_at = now() - interval '20 days' where c.activity_id = disaster.activity(3) and c.id = disaster.claim(3, 9);
end $$;
-- Of the providers' statements.
create function disaster.plant_lines() returns void language plpgsql as $$
begin
  perform disaster.note(29, 'double credit', 'statement_duplicate_effect', 1, 5, 'person'), disaster.note(30, 'double credit', 'statement_duplicate_effect', 27, 5, 'person');
  insert into disaster.line (provider, request_id, user_id, type, amount, currency, at, ref)
    select l.provider, l.request_id, l.user_id, l.type, l.amount, l.currency, l.at + interval '1 minute', l.ref || '-again' from disaster.line l
     where l.request_id in (disaster.request(1, 5), disaster.request(27, 5));
  perform disaster.note(31, 'missing line', 'statement_missing_at_provider', 2, 5, 'statement'), disaster.note(32, 'missing line', 'statement_missing_at_provider', 3, 5, 'statement'),
          disaster.note(33, 'missing line', 'statement_missing_at_provider', 28, 5, 'statement');
  insert into disaster.repaired_line select l.provider, l.request_id, l.amount from disaster.line l
   where l.request_id in (disaster.request(2, 5), disaster.request(3, 5), disaster.request(28, 5), disaster.request(4, 5), disaster.request(29, 5));
  delete from disaster.line l where l.request_id in (disaster.request(2, 5), disaster.request(3, 5), disaster.request(28, 5));
  perform disaster.note(34, 'amount off by one', 'statement_amount_differs', 4, 5, 'statement'), disaster.note(35, 'amount off by one', 'statement_amount_differs', 5, 5, 'person'),
          disaster.note(36, 'amount off by one', 'statement_amount_differs', 29, 5, 'statement');
  update disaster.line l set amount = l.amount + case l.request_id when disaster.request(5, 5) then -1 else 1 end
   where l.request_id in (disaster.request(4, 5), disaster.request(5, 5), disaster.request(29, 5));
  -- Taken back, and paid back, at the provider, on the next day.
  perform disaster.note(37, 'refund after the day', 'statement_reversed', 6, 5, 'person'), disaster.note(38, 'refund after the day', 'statement_reversed', 23, 5, 'person');
  insert into disaster.line (provider, request_id, user_id, type, amount, currency, at, ref)
    values ('simulator', disaster.request(6, 5, '-r'), 6000005, 'reverse', 500, 'JPY', disaster.at('00:00') + interval '1 day 1 minute 30 seconds', 'late-r'),
           ('simulator', disaster.request(23, 5, '-f'), 23000005, 'refund', 700, 'JPY', disaster.at('00:00') + interval '1 day 1 minute 31 seconds', 'late-f');
  -- The provider booked what we have never asked for.
  perform disaster.note(39, 'line without record', 'statement_missing_here', null, null, 'person', disaster.activity(2) || '-999999999'),
          disaster.note(40, 'line without record', 'statement_missing_here', null, null, 'person', 'shop-77:foreign');
  insert into disaster.line (provider, request_id, user_id, type, amount, currency, at, ref)
    values ('simulator', disaster.activity(2) || '-999999999', 2000005, 'credit', 500, 'JPY', disaster.at('15:00'), 'nobody'),
           ('simulator-b', 'shop-77', 77, 'credit', 1250, 'KWD', disaster.at('15:00'), 'foreign');
end $$;

-- --- whether it was found

-- What should have been found and was not, what was found and should not have been; '' where it is exactly what was planted. i_left_to: of what is still open by now.
create function disaster.verdict(i_left_to text[]) returns text language sql stable as $$
  with wanted as (select * from disaster.expected e where e.left_to = any (i_left_to)),
  live as (select f.* from largesse.finding f where f.state <> 'gone'),
  pairs as (
    select w.fault, w.kind as wanted, f.key
      from wanted w join live f on f.kind = w.kind and (w.activity_id is null or f.activity_id = w.activity_id) and (w.key_ends is not null or f.claim_id is not distinct from w.claim_id)
                             and (w.key_ends is null or right(f.key, length(w.key_ends) + 1) in (':' || w.key_ends, '/' || w.key_ends)))
  select coalesce((select string_agg(format('not found: fault %s, %s: %s of claim %s-%s%s', w.fault, w.what, w.kind, w.activity_id, w.claim_id, ' ' || w.key_ends), E'\n' order by w.fault)
                     from wanted w where not exists (select from pairs p where p.fault = w.fault and p.wanted = w.kind)) || E'\n', '')
      || coalesce((select string_agg(format('invented: %s: %s / %s', f.key, f.expected, f.actual), E'\n' order by f.key) from live f where not exists (select from pairs p where p.key = f.key)) || E'\n', '')
      || case when (select count(distinct key) from pairs) <> (select count(*) from wanted) then format(E'%s findings of %s\n', (select count(distinct key) from pairs), (select count(*) from wanted)) else '' end
$$;
-- What providers say of what they are asked now: it was done.
create function disaster.answer() returns bigint language plpgsql as $$
declare
  v_asked bigint;
begin
  select count(*) into v_asked from largesse.claim c
   where c.status = 'issuing' and c.next_attempt_at <= now() and c.outcome in ('pending', 'unknown') and c.review_since is null;
  perform disaster.deliver(c.activity_id, array[c.id]) from largesse.claim c
   where c.status = 'issuing' and c.next_attempt_at <= now() and c.outcome in ('pending', 'unknown') and c.review_since is null;
  return v_asked;
end $$;
create function disaster.books() returns text language sql as $$
  select md5(concat_ws('|', (select string_agg(t::text, ',' order by t::text) from largesse.stock t), (select string_agg(t::text, ',' order by t::text) from largesse.usage t),
    (select sum(hashtextextended(t::text, 0)) from largesse.claim t), (select string_agg(t::text, ',' order by t::text) from largesse.finding t), (select count(*) from largesse.operator_log)))
$$;
