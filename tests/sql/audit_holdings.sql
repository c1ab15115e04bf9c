-- SPDX-License-Identifier: Apache-2.0
-- Numbers, qualifications and points against claims: each audit sees the one row that was damaged for it, and nothing else does.
create schema probe;
select largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
create function probe.make(i_code text, i_doc jsonb) returns bigint language plpgsql as $$
declare v record;
begin
  select * into v from largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', 'probe',
    'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', '{"total": 50}'::jsonb, 'limits', '[]'::jsonb) || i_doc, 'test', null);
  if v.outcome <> 'created' then raise exception '%: % %', i_code, v.outcome, v.detail; end if;
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
  return (select a.id from largesse.activity a where a.code = i_code);
end $$;
create function probe.claim(i_code text, i_user bigint, i_numbers bigint[] default null, i_quantity int default 1) returns void language plpgsql as $$
declare v record;
begin
  select s.* into v from largesse.activity a cross join lateral
    largesse.claim_submit(a.id, array['b' || i_user], array[i_user], array[coalesce(cardinality(i_numbers), i_quantity)], array[null::text], '5 s',
                          case when i_numbers is not null then array_fill(1, array[cardinality(i_numbers)]) end, i_numbers) s where a.code = i_code and s.ord = 1;
  if v.verdict <> 'ACCEPTED' then raise exception '% %: % %', i_code, i_user, v.verdict, v.detail; end if;
end $$;
create procedure probe.end(i_user bigint, i_to text) language plpgsql as $$
begin
  if (select count(*) from largesse.claim c cross join lateral
        largesse.claim_move(array[c.activity_id], array[c.id], i_to, null, null, null) where c.user_id = i_user) <> 1 then
    raise exception 'claim of % did not become %', i_user, i_to;
  end if;
end $$;
\ir parts/damage_probe.sql
-- Of these audits only, with the activity.
create or replace function probe.findings() returns text language sql as $$
  select coalesce(string_agg(a.code || ' ' || d.name, ', ' order by a.code, d.name), 'none')
    from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id)
   where d.name in ('number_not_matching_claims', 'number_set_wrong', 'qualification_not_matching_claims', 'points_not_matching_claims', 'points_not_matching_ledger')
$$;

-- Numbers: one claim of two being paid for, one paid, one that came to nothing.
select probe.make('lottery', '{"kind": "number", "stock": {"total": null}, "price": {"amount": 500, "currency": "CNY"}, "paymentProvider": "simulator"}');
select largesse.numbers_add('lottery', null, 1, 100, 'test');
select probe.claim('lottery', 1, '{7, 8}'), probe.claim('lottery', 2, '{9}'), probe.claim('lottery', 3, '{10}');
select largesse.claim_paid(array[c.activity_id], array[c.id], array['ref']) from largesse.claim c where c.user_id = 2;
insert into largesse.attempt (activity_id, claim_id, attempt, step, provider, started_at, duration_us, outcome)
  select activity_id, id, 1, 'charge', 'simulator', now(), 1, 'done' from largesse.claim where user_id = 2;
call probe.end(3, 'expired');
call probe.damage('select 1', 'none');
call probe.damage('update largesse.activity_number set status = ''sold'' where number = 7', 'lottery number_not_matching_claims');
call probe.damage('update largesse.activity_number set status = ''available'', claim_id = null where number = 8', 'lottery number_not_matching_claims');
call probe.damage('update largesse.activity_number set status = ''available'', claim_id = null where number = 9', 'lottery number_not_matching_claims');
call probe.damage('update largesse.activity_number set status = ''sold'', claim_id = (select id from largesse.claim where user_id = 3) where number = 10', 'lottery number_not_matching_claims');
call probe.damage('update largesse.activity_number set status = ''sold'', claim_id = 1 where number = 50', 'lottery number_not_matching_claims');
call probe.damage('delete from largesse.activity_number where number = 9', 'lottery number_not_matching_claims, lottery number_set_wrong');
call probe.damage('delete from largesse.activity_number where number = 77', 'lottery number_set_wrong');
call probe.damage('insert into largesse.activity_number (activity_id, number) select id, 777 from largesse.activity where code = ''lottery''', 'lottery number_set_wrong');
call probe.damage('select largesse.numbers_add(''lottery'', null, 101, 120, ''test''), largesse.stock_adjust(''lottery'', ''k'', -5, ''kept back'', ''test'')', 'none');
-- A number that changed hands is missed by one claim and not the other's.
call probe.damage('update largesse.activity_number set claim_id = (select id from largesse.claim where user_id = 1) where number = 9',
                  'lottery number_not_matching_claims, lottery number_not_matching_claims');
call probe.damage('update largesse.activity_number set claim_id = (select id from largesse.claim where user_id = 2), status = ''sold'' where number = 7',
                  'lottery number_not_matching_claims, lottery number_not_matching_claims');
call probe.damage('update largesse.claim set status = ''expired'' where user_id = 2', 'lottery number_not_matching_claims');
call probe.damage('update largesse.claim set numbers = ''{7, 8, 11}'' where user_id = 1', 'lottery number_not_matching_claims');

-- Qualifications: one used, one given back, one unused.
select probe.make('guests', '{"needsQualification": true}');
select largesse.qualification_import('guests', '{11, 12, 13}', null, null, null);
select probe.claim('guests', 11), probe.claim('guests', 12);
call probe.end(12, 'failed');
call probe.damage('select 1', 'none');
call probe.damage('update largesse.qualification set claim_id = null where user_id = 11', 'guests qualification_not_matching_claims');
call probe.damage('update largesse.qualification set claim_id = 5 where user_id = 13', 'guests qualification_not_matching_claims');
call probe.damage('update largesse.qualification set claim_id = (select id from largesse.claim where user_id = 12) where user_id = 12', 'guests qualification_not_matching_claims');
call probe.damage('update largesse.qualification set claim_id = (select id from largesse.claim where user_id = 11) where user_id = 13', 'guests qualification_not_matching_claims');
call probe.damage('delete from largesse.qualification where user_id = 11', 'guests qualification_not_matching_claims');
call probe.damage('delete from largesse.qualification where user_id = 13', 'none');
-- Where none are asked for a list may lie about, unused.
select probe.make('open', '{}');
select largesse.qualification_import('open', '{14, 15}', null, null, null);
select probe.claim('open', 14);
call probe.damage('select 1', 'none');
call probe.damage('update largesse.qualification set claim_id = 5 where user_id = 15', 'open qualification_not_matching_claims');

-- Points: one exchange that stands, one that was refused for ever; somebody who only has points.
select probe.make('exchange', '{"kind": "exchange", "pointsCost": 100}');
select largesse.points_grant(21, 'g', 500, 'x', 'test'), largesse.points_grant(22, 'g', 100, 'x', 'test'), largesse.points_grant(23, 'g', 100, 'x', 'test');
select probe.claim('exchange', 21, null, 2), probe.claim('exchange', 22);
call probe.end(22, 'failed');
do $$ begin
  if (select string_agg(a.user_id || '=' || a.balance, ' ' order by a.user_id) from largesse.points_account a) <> '21=300 22=100 23=100' then
    raise exception 'other balances than expected';
  end if;
end $$;
call probe.damage('select 1', 'none');
call probe.damage('update largesse.points_account set balance = balance + 1 where user_id = 21', 'exchange points_not_matching_ledger');
call probe.damage('update largesse.points_account set balance = balance - 1 where user_id = 23', 'exchange points_not_matching_ledger');
call probe.damage('delete from largesse.points_account where user_id = 22', 'exchange points_not_matching_ledger');
call probe.damage('delete from largesse.points_account where user_id = 23', 'exchange points_not_matching_ledger');
call probe.damage('delete from largesse.points_entry where user_id = 23', 'exchange points_not_matching_ledger');
call probe.damage('update largesse.points_entry set balance = 301 where user_id = 21 and key like ''claim/%''', 'exchange points_not_matching_ledger');
call probe.damage('delete from largesse.points_entry where user_id = 22 and key like ''return/%''', 'exchange points_not_matching_claims, exchange points_not_matching_ledger');
call probe.damage('update largesse.points_entry set amount = -100 where user_id = 21 and key like ''claim/%''', 'exchange points_not_matching_claims, exchange points_not_matching_ledger');
call probe.damage('with gone as (delete from largesse.points_entry where user_id = 22 and key like ''return/%'') update largesse.points_account set balance = 0 where user_id = 22',
                  'exchange points_not_matching_claims');  -- the books agree with each other, and not with the claim
call probe.damage('update largesse.claim set status = ''failed'' where user_id = 21', 'exchange points_not_matching_claims');
call probe.damage('update largesse.claim set points = 100 where user_id = 21', 'exchange points_not_matching_claims');
call probe.damage('update largesse.claim set points = null where user_id = 21', 'exchange points_not_matching_claims, exchange points_not_matching_claims');
call probe.damage('update largesse.points_entry set claim_id = 5 where user_id = 21 and key like ''claim/%''', 'exchange points_not_matching_claims, exchange points_not_matching_claims');
-- Whoever exchanged in two activities is looked at once, with the newer one.
select probe.make('again', '{"kind": "exchange", "pointsCost": 1}');
select largesse.points_grant(24, 'g', 10, 'x', 'test');
select probe.claim('again', 21);
call probe.damage('select 1', 'none');
call probe.damage('update largesse.points_account set balance = balance + 1', 'again points_not_matching_ledger, again points_not_matching_ledger, again points_not_matching_ledger, exchange points_not_matching_ledger');

-- None of it troubles any other audit.
do $$ begin
  if exists (select from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id)) then raise exception 'the audit has findings'; end if;
end $$;
-- Findings of one audit have keys of their own, whatever was damaged.
update largesse.claim set points = null where user_id = 21;
update largesse.activity_number set claim_id = (select id from largesse.claim where user_id = 2), status = 'sold' where number = 7;
do $$ begin
  if exists (select from largesse.activity a, largesse.audit_definition d, largesse.audit_run(d.name, a.id) r group by a.id, d.name, r.subject having count(*) > 1) then
    raise exception 'two findings with one subject';
  end if;
end $$;
