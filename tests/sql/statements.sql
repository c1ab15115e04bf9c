-- SPDX-License-Identifier: Apache-2.0
-- Statements of providers against what we hold: each outcome, findings that come and go, what is in flight around the cut-off. Field cases B116, B118, B120, B122, B123.
create schema probe;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
set time zone 'UTC';
create table probe.clock (at timestamptz not null);
insert into probe.clock values ('2027-03-01 12:00Z');
grant usage on schema probe to public;
grant select on probe.clock to public;
create or replace function largesse.clock_now() returns timestamptz language sql volatile parallel safe as $$ select at from probe.clock $$;
create function probe.clock_set(i_at timestamptz) returns void language sql as $$ update probe.clock set at = i_at $$;

select largesse.reward_put('voucher', 'shop', 250, 'EUR', '{}');
select largesse.reward_put('other', 'elsewhere', 250, 'EUR', '{}');
select largesse.activity_put(jsonb_build_object('code', a.code, 'name', 'n', 'kind', 'reward', 'timeZone', 'UTC', 'rewardCode', a.reward,
  'startAt', '2027-03-01T00:00:00Z', 'endAt', '2027-12-01T00:00:00Z', 'stock', '{"total": 1000}'::jsonb, 'limits', '[]'::jsonb), 'test', null)
  from (values ('run', 'voucher'), ('other', 'other')) as a(code, reward);
select largesse.activity_action(a, 'publish', 'test', null, null) from unnest(array['run', 'other']) as a;
select largesse.activity_advance(100);

-- A claim of a user who has one; its moves; its request id.
create function probe.claim(i_at timestamptz, i_user bigint, i_code text default 'run', i_quantity int default 1) returns void language plpgsql as $$ begin
  perform probe.clock_set(i_at);
  perform largesse.claim_submit((select id from largesse.activity where code = i_code), array['b' || i_user], array[i_user], array[i_quantity], array[null::text], '5 s');
end $$;
create function probe.move(i_at timestamptz, i_user bigint, i_to text, i_ref text default null) returns void language plpgsql as $$ begin
  perform probe.clock_set(i_at);
  perform m.* from largesse.claim c, largesse.claim_move(array[c.activity_id], array[c.id], i_to, array[i_ref], null, null) m where c.user_id = i_user;
  update largesse.claim set outcome = 'done' where user_id = i_user and i_to = 'succeeded';  -- as settling writes it
end $$;
create function probe.delivered(i_at timestamptz, i_user bigint, i_code text default 'run') returns void language plpgsql as $$ begin
  perform probe.claim(i_at, i_user, i_code);
  perform probe.move(i_at, i_user, 'succeeded', 'ref' || i_user);
end $$;
create function probe.request(i_user bigint) returns text language sql as $$ select activity_id || '-' || id from largesse.claim where user_id = i_user $$;

-- A file: lines that come from (place, request id, kind, amount, currency, time, reference, status, user).
create type probe.line as (n bigint, request text, kind text, amount bigint, currency text, at timestamptz, ref text, status text, user_id text);
create function probe.import(i_date date, i_checksum text, i_lines probe.line[], i_terms jsonb default '{}', i_zone text default 'UTC', i_findings_max int default 10000) returns text language plpgsql as $$
declare
  v_id  bigint;
  v_end record;
begin
  v_id := largesse.statement_begin('shop', i_zone, 'file', '1 hour', '{"covers": ["credit", "reverse", "payment", "refund"], "fallback": [], "fetched": false}'::jsonb || i_terms, 'test');
  perform largesse.statement_lines_add(v_id, array_agg(l.n), array_agg(coalesce(l.request, '')), array_agg((regexp_match(l.request, '^(\d+)-\d+'))[1]::bigint),
            array_agg((regexp_match(l.request, '^\d+-(\d+)'))[1]::bigint), array_agg(coalesce(l.user_id, '')), array_agg(l.kind), array_agg(coalesce(l.status, 'done')), array_agg(l.amount),
            array_agg(l.currency), array_agg((extract(epoch from l.at) * 1000000)::bigint), false, array_agg(coalesce(l.ref, '')))
    from unnest(i_lines) l;
  select c.* into v_end from largesse.statement_close(v_id, i_date, sha256(i_checksum::bytea), 100, i_findings_max, 'test', null) c;
  if v_end.outcome = 'imported' then return v_end.statement_id; end if;
  delete from largesse.statement_line where statement_id = v_id;
  delete from largesse.statement where id = v_id;
  perform largesse.statement_reinstate(v_end.statement_id, 10000, 'test', null);
  return v_end.outcome || ' ' || v_end.statement_id;
end $$;
create function probe.counts(i_id text) returns text language sql as $$
  select string_agg(e.key || '=' || e.value, ' ' order by e.key) from largesse.statement s cross join lateral jsonb_each_text(s.counts) e where s.id = i_id::bigint and e.value <> '0' and e.key <> 'recorded'
$$;
create function probe.findings() returns text language sql as $$
  select coalesce(string_agg(replace(f.kind, 'statement_', '') || ' ' || coalesce(c.user_id::text, f.key) || coalesce(' ' || f.amount, ''), ', ' order by f.kind, c.user_id, f.key), 'none')
    from largesse.finding f left join largesse.claim c on c.activity_id = f.activity_id and c.id = f.claim_id where f.state <> 'gone' and f.provider = 'shop'
$$;

-- --- a clean day
select probe.delivered('2027-03-01 10:00Z', 1);
select probe.delivered('2027-03-01 11:00Z', 2);
select probe.delivered('2027-03-01 11:00Z', 90, 'other');  -- of another provider
select probe.clock_set('2027-03-02 02:00Z');
select probe.expect('a clean day', probe.counts(probe.import('2027-03-01', 'clean', array[
  row(2, probe.request(1), 'credit', 250, 'EUR', '2027-03-01 10:00Z', 'ref1', null, '1'),
  row(3, probe.request(2), 'credit', 250, 'EUR', '2027-03-01 11:00Z', 'ref2', null, '2')]::probe.line[])), 'matched=2');
select probe.expect('nothing found', probe.findings(), 'none');
select probe.expect('it is logged', (select string_agg(actor || ' ' || action || ' ' || target, ',') from largesse.operator_log where action like 'statement%'), 'test statement.import shop/2027-03-01');

-- The same file again is the same statement; and neither changes what is here.
select probe.expect('the same file twice', probe.import('2027-03-01', 'clean', array[row(2, probe.request(1), 'credit', 250, 'EUR', '2027-03-01 10:00Z', 'ref1', null, '1')]::probe.line[]),
  'again ' || (select max(id) from largesse.statement));
select probe.expect('one statement', (select count(*) || ' ' || sum(lines) from largesse.statement), '1 2');

-- --- every difference there is
select probe.delivered('2027-03-02 10:00Z', u) from generate_series(11, 19) u;
select probe.claim('2027-03-02 10:00Z', 20);
select probe.move('2027-03-02 10:01Z', 20, 'failed');
select probe.claim('2027-03-02 10:00Z', 21);             -- it is still under way
select probe.claim('2027-03-02 10:00Z', 23, 'run', 3);   -- three units
select probe.move('2027-03-02 10:00Z', 23, 'succeeded', 'ref23');
select probe.delivered('2027-03-02 10:00Z', 91, 'other');
select probe.clock_set('2027-03-03 02:00Z');
create function probe.second_day() returns probe.line[] language sql as $$
  select array[
    row(2, probe.request(11), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref11', null, '11'),
    row(3, probe.request(12), 'credit', 251, 'EUR', '2027-03-02 10:00Z', 'ref12', null, '12'),              -- off by one
    row(4, probe.request(13), 'credit', 250, 'USD', '2027-03-02 10:00Z', 'ref13', null, '13'),              -- another currency
    row(5, probe.request(14), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref14', null, '14'),
    row(6, probe.request(14), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref14', null, '14'),              -- the same line
    row(7, probe.request(15), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref15', null, '15'),
    row(8, probe.request(15), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref15b', null, '15'),             -- delivered twice
    row(9, probe.request(16), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref16', null, '16'),
    row(10, probe.request(16), 'reverse', 250, 'EUR', '2027-03-02 10:05Z', 'ref16r', null, '16'),           -- taken back there alone
    row(11, probe.request(20), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref20', null, '20'),             -- failed here, delivered there
    row(12, probe.request(21), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref21', null, '21'),             -- under way here
    row(13, '77-1', 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'refX', null, '99'),                         -- no claim of ours
    row(14, 'somebody else''s', 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'refY', null, '98'),
    row(15, probe.request(91), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref91', null, '91'),             -- another provider's
    row(16, probe.request(23), 'credit', 750, 'EUR', '2027-03-02 10:00Z', 'ref23', null, '23'),
    row(17, probe.request(18), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref18', 'failed', '18'),         -- failed there, delivered here
    row(18, probe.request(19), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref19f', 'failed', '19'),        -- the first try failed, the second did not
    row(19, probe.request(19), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref19', null, '19'),
    row(20, 'fee', 'ignored', 3, 'EUR', '2027-03-02 10:00Z', 'fee', null, '')
  ]::probe.line[]
$$;
select probe.import('2027-03-02', 'second', probe.second_day());
select probe.expect('counts', probe.counts((select max(id)::text from largesse.statement)),
  'amountDiffers=2 duplicates=2 findings=11 ignored=2 matched=6 missingAtProvider=1 missingHere=3 notYetDue=1 reversed=1 statusDiffers=2');
select probe.expect('findings', probe.findings(), 'amount_differs 12 1, amount_differs 13 250, duplicate_effect 15 250, duplicate_line 14 250, '
  || 'missing_at_provider 17 250, missing_here 91 250, missing_here statement_missing_here/shop/77-1 250, missing_here statement_missing_here/shop/somebody else''s:refY 250, '
  || 'reversed 16 250, status_differs 18 250, status_differs 20 250');
select probe.expect('in words', (select expected || ' / ' || actual from largesse.finding where kind = 'statement_amount_differs' and currency = 'EUR'), '2.50 EUR / 2.51 EUR in line 3');

-- Another provider of ours that writes into the same file: its movements are in its own statement.
begin;
select probe.import('2027-03-02', 'shared', probe.second_day(), '{"sharedWith": ["nobody", "elsewhere"]}');
select probe.expect('shared', probe.counts((select max(id)::text from largesse.statement)),
  'amountDiffers=2 duplicates=2 findings=10 ignored=3 matched=6 missingAtProvider=1 missingHere=2 notYetDue=1 reversed=1 statusDiffers=2');
select probe.expect('not among the findings', (probe.findings() like '%missing_here 91%')::text, 'false');
rollback;

-- What is under way becomes a finding when its time is over, and goes when it is settled.
select probe.clock_set('2027-03-03 03:00:01Z');
select largesse.statement_match_open('shop', 10000);
select probe.expect('past its grace', (select count(*)::text from largesse.finding f join largesse.claim c on c.id = f.claim_id where c.user_id = 21 and f.state = 'opened'), '1');
select probe.move('2027-03-03 03:01Z', 21, 'succeeded', 'ref21');
select largesse.statement_match_open('shop', 10000);
select probe.expect('settled', (select f.state from largesse.finding f join largesse.claim c on c.id = f.claim_id where c.user_id = 21), 'gone');

-- A corrected file for the day: the older one is kept, its findings go.
select probe.import('2027-03-02', 'corrected', array(select l from unnest(probe.second_day()) l where l.n in (2, 5, 7, 9, 11, 12, 16, 19))
  || array[row(3, probe.request(12), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref12', null, '12'), row(4, probe.request(13), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref13', null, '13'),
           row(20, probe.request(17), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref17', null, '17'), row(21, probe.request(18), 'credit', 250, 'EUR', '2027-03-02 10:00Z', 'ref18', null, '18')]::probe.line[]);
select probe.expect('what the corrected file leaves', probe.findings(), 'status_differs 20 250');
select probe.expect('the old one is kept', (select string_agg(state || ' ' || lines, ', ' order by id) from largesse.statement where business_date = '2027-03-02'), 'superseded 19, active 12');
-- The older file once more: it is in force again.
select probe.import('2027-03-02', 'second', probe.second_day());
select probe.expect('in force again', (select string_agg(state || ' ' || lines, ', ' order by id) from largesse.statement where business_date = '2027-03-02'), 'active 19, superseded 12');
select probe.expect('with its findings', (select count(*)::text from largesse.finding where state <> 'gone' and provider = 'shop'), '11');
select probe.import('2027-03-02', 'corrected', '{}');
select probe.expect('and back', probe.findings(), 'status_differs 20 250');
delete from largesse.claim where user_id = 20;
select largesse.statement_rematch((select id from largesse.statement where state = 'active' and business_date = '2027-03-02'), 10000);
select probe.expect('its record is lost', (select replace(string_agg(kind, ', '), 'statement_', '') from largesse.finding where state <> 'gone' and provider = 'shop'), 'missing_here');
delete from largesse.statement_line where ref = 'ref20';
select largesse.statement_match_open('shop', 10000);
select probe.expect('nothing left', probe.findings(), 'none');

-- --- B116: two equal payments of one user on one day, without request ids in the file
select probe.delivered('2027-03-04 10:00Z', 31);
select probe.clock_set('2027-03-04 10:00Z');
select largesse.claim_submit((select id from largesse.activity where code = 'run'), array['b31-2'], array[31::bigint], array[1], array[null::text], '5 s');
select largesse.claim_move(array[activity_id], array[id], 'succeeded', array['ref31-2'], null, null) from largesse.claim where biz_id = 'b31-2';
update largesse.claim set outcome = 'done' where user_id = 31;
select probe.clock_set('2027-03-05 02:00Z');
create function probe.fourth_day(i_repeat boolean) returns probe.line[] language sql as $$
  select array[row(2, '', 'credit', 250, 'EUR', '2027-03-04 10:00Z', 'A', null, '31'), row(3, '', 'credit', 250, 'EUR', '2027-03-04 10:00Z', 'B', null, '31')]::probe.line[]
         || case when i_repeat then array[row(4, '', 'credit', 250, 'EUR', '2027-03-04 10:00Z', 'B', null, '31')]::probe.line[] else '{}' end
$$;
select probe.expect('B116 both match', probe.counts(probe.import('2027-03-04', 'equal', probe.fourth_day(false), '{"fallback": ["reference", "user_amount_date"]}')), 'matched=2');
select probe.expect('B116 nothing is reported', probe.findings(), 'none');
select probe.expect('B116 the same id twice', probe.counts(probe.import('2027-03-04', 'repeated', probe.fourth_day(true), '{"fallback": ["reference", "user_amount_date"]}')), 'duplicates=1 findings=1 matched=2');
select probe.expect('B116 once', (select string_agg(kind || ' ' || amount, ', ') from largesse.finding where state <> 'gone' and provider = 'shop'), 'statement_duplicate_line 250');
select probe.expect('B116 without keys nothing is guessed', probe.counts(probe.import('2027-03-04', 'no keys', probe.fourth_day(false))), 'findings=4 missingAtProvider=2 missingHere=2');
select probe.import('2027-03-04', 'equal', '{}');
select probe.expect('B116 corrected', probe.findings(), 'none');
-- By the provider's own id, in whichever order.
select probe.expect('by reference', probe.counts(probe.import('2027-03-04', 'refs', array[row(2, '', 'credit', 250, 'EUR', '2027-03-04 10:00Z', 'ref31-2', null, ''),
  row(3, '', 'credit', 250, 'EUR', '2027-03-04 10:00Z', 'ref31', null, '')]::probe.line[], '{"fallback": ["reference"]}')), 'matched=2');
select probe.expect('each its own', (select string_agg(c.biz_id, ',' order by l.line) from largesse.statement_line l join largesse.claim c on c.id = l.claim_id
  where l.statement_id = (select max(id) from largesse.statement)), 'b31-2,b31');

-- --- B122: in flight around the cut-off
create function probe.fulfilled_late(i_user bigint) returns void language plpgsql as $$ begin
  perform probe.claim('2027-03-05 23:59:58Z', i_user);
  perform probe.move('2027-03-06 00:00:03Z', i_user, 'succeeded', 'ref' || i_user);
end $$;
select probe.fulfilled_late(41);
select probe.fulfilled_late(42);
select probe.delivered('2027-03-05 23:59:59Z', 43);
select probe.clock_set('2027-03-06 02:00Z');
select probe.expect('B122 in flight', probe.counts(probe.import('2027-03-05', 'fifth', '{}')), 'notYetDue=3');
select probe.expect('B122 no finding', probe.findings(), 'none');
-- The next statement has one of them; the other two are past their grace then.
select probe.clock_set('2027-03-07 02:00Z');
select probe.expect('B122 the next day', probe.counts(probe.import('2027-03-06', 'sixth', array[row(2, probe.request(41), 'credit', 250, 'EUR', '2027-03-06 00:00:03Z', 'ref41', null, '41')]::probe.line[])), 'matched=1');
select probe.expect('B122 missing, each once', probe.findings(), 'missing_at_provider 42 250, missing_at_provider 43 250');
select probe.expect('B122 counted where it was looked for', probe.counts((select id::text from largesse.statement where business_date = '2027-03-05')), 'findings=2 missingAtProvider=2');
select largesse.statement_match_open('shop', 10000);
select probe.expect('B122 still once', probe.findings(), 'missing_at_provider 42 250, missing_at_provider 43 250');
-- Late, but there.
select probe.clock_set('2027-03-08 02:00Z');
select probe.import('2027-03-07', 'seventh', array[row(2, probe.request(42), 'credit', 250, 'EUR', '2027-03-07 00:00:03Z', 'ref42', null, '42'),
  row(3, probe.request(43), 'credit', 250, 'EUR', '2027-03-07 00:00:03Z', 'ref43', null, '43')]::probe.line[]);
select probe.expect('B122 explained', probe.findings(), 'none');
-- Without a further statement the grace time itself decides, counted from when it was first looked for.
select probe.delivered('2027-03-08 23:59:59Z', 44);
select probe.clock_set('2027-03-20 02:00Z');
select probe.expect('imported late', probe.counts(probe.import('2027-03-08', 'eighth', '{}')), 'notYetDue=1');
select probe.clock_set('2027-03-20 02:59Z');
select largesse.statement_match_open('shop', 10000);
select probe.expect('not yet', probe.findings(), 'none');
select probe.clock_set('2027-03-20 03:00Z');
select largesse.statement_match_open('shop', 10000);
select probe.expect('now', probe.findings(), 'missing_at_provider 44 250');
-- The same line in the files of two days.
select probe.import('2027-03-08', 'eighth corrected', array[row(2, probe.request(44), 'credit', 250, 'EUR', '2027-03-08 23:59:59Z', 'ref44', null, '44')]::probe.line[]);
select probe.import('2027-03-09', 'ninth', array[row(2, probe.request(44), 'credit', 250, 'EUR', '2027-03-08 23:59:59Z', 'ref44', null, '44')]::probe.line[]);
select probe.expect('in two files', probe.findings(), 'duplicate_line 44 250');
select probe.import('2027-03-09', 'ninth corrected', '{}');
select probe.expect('taken out', probe.findings(), 'none');

-- --- B118: a payment on Monday, its refund on Thursday; and the reversal of a delivery
select largesse.reward_put('price', 'shop', 500, 'KWD', '{}');
create function probe.paid(i_at timestamptz, i_user bigint) returns void language plpgsql as $$ begin
  perform probe.claim(i_at, i_user);
  update largesse.claim set reward_id = null, payment_id = (select max(id) from largesse.reward where code = 'price'), payment = 'done', paid_at = i_at, payment_ref = 'pay' || i_user,
                            status = 'succeeded', updated_at = i_at where user_id = i_user;
end $$;
select probe.paid('2027-04-05 10:00Z', 51);
select probe.clock_set('2027-04-06 02:00Z');
select probe.expect('B118 Monday', probe.counts(probe.import('2027-04-05', 'monday', array[row(2, probe.request(51) || '-p', 'payment', 500, 'KWD', '2027-04-05 10:00Z', 'pay51', null, '51')]::probe.line[])), 'matched=1');
update largesse.claim set refund = 'done', refund_since = '2027-04-08 09:00Z', refunded_at = '2027-04-08 10:00Z', status = 'rolled_back', updated_at = '2027-04-08 10:00Z' where user_id = 51;
select probe.clock_set('2027-04-09 02:00Z');
select probe.expect('B118 Thursday', probe.counts(probe.import('2027-04-08', 'thursday', array[row(2, probe.request(51) || '-f', 'refund', 500, 'KWD', '2027-04-08 10:00Z', 'back51', null, '51')]::probe.line[])), 'matched=1');
select largesse.statement_rematch((select id from largesse.statement where business_date = '2027-04-05'), 10000);
select probe.expect('B118 Monday is unchanged', probe.counts((select id::text from largesse.statement where business_date = '2027-04-05')), 'matched=1');
select probe.expect('B118 both are linked to the claim, and come to nothing', (select count(distinct (activity_id, claim_id)) || ' ' || sum(case kind when 'payment' then amount else -amount end)
  from largesse.statement_line where user_id = '51'), '1 0');
select probe.expect('B118 without the refund', probe.counts(probe.import('2027-04-08', 'without', '{}')), 'findings=1 missingAtProvider=1');
select probe.expect('B123 in its places', (select expected from largesse.finding where key = 'statement_missing_at_provider/shop/' || probe.request(51) || '-f'),
  'a line about the refund of 0.500 KWD on 2027-04-08T10:00:00.000000Z');
select probe.import('2027-04-08', 'thursday', '{}');
-- Paid back there alone.
select probe.paid('2027-04-08 11:00Z', 52);
select probe.clock_set('2027-04-10 02:00Z');
select probe.expect('refunded there alone', probe.counts(probe.import('2027-04-08', 'both', array[
  row(2, probe.request(51) || '-f', 'refund', 500, 'KWD', '2027-04-08 10:00Z', 'back51', null, '51'),
  row(3, probe.request(52) || '-p', 'payment', 500, 'KWD', '2027-04-08 11:00Z', 'pay52', null, '52'),
  row(4, probe.request(52) || '-f', 'refund', 500, 'KWD', '2027-04-08 12:00Z', 'back52', null, '52')]::probe.line[])), 'findings=1 matched=2 reversed=1');
update largesse.claim set refund = 'pending', refund_since = '2027-04-10 02:00Z' where user_id = 52;
select largesse.statement_rematch((select max(id) from largesse.statement), 10000);
select probe.expect('a refund that is under way, past its grace', probe.counts((select max(id)::text from largesse.statement)), 'matched=2 notYetDue=1');
update largesse.claim set refund = 'done', refunded_at = '2027-04-10 02:00Z' where user_id = 52;
select largesse.statement_match_open('shop', 10000);
select probe.expect('settled', probe.counts((select max(id)::text from largesse.statement)), 'matched=3');
select probe.expect('nothing left', probe.findings(), 'none');
-- A delivery that was taken back, by the same id or by its own.
select probe.delivered('2027-04-10 10:00Z', u) from generate_series(53, 54) u;
update largesse.claim set status = 'rolled_back', reversal = 'done', reversal_since = '2027-04-10 11:00Z', reversed_at = '2027-04-10 11:00Z', updated_at = '2027-04-10 11:00Z' where user_id in (53, 54);
select probe.clock_set('2027-04-11 02:00Z');
select probe.expect('taken back', probe.counts(probe.import('2027-04-10', 'tenth', array[
  row(2, probe.request(53), 'credit', 250, 'EUR', '2027-04-10 10:00Z', 'c53', null, '53'), row(3, probe.request(53), 'reverse', 250, 'EUR', '2027-04-10 11:00Z', 'r53', null, '53'),
  row(4, probe.request(54), 'credit', 250, 'EUR', '2027-04-10 10:00Z', 'c54', null, '54'), row(5, probe.request(54) || '-r', 'reverse', 250, 'EUR', '2027-04-10 11:00Z', 'r54', null, '54')]::probe.line[])), 'matched=4');
select probe.expect('by kinds that it covers', probe.counts(probe.import('2027-04-10', 'credits', array[row(2, probe.request(53), 'credit', 250, 'EUR', '2027-04-10 10:00Z', 'c53', null, '53')]::probe.line[],
  '{"covers": ["credit"]}')), 'findings=1 matched=1 missingAtProvider=1');
select probe.import('2027-04-10', 'tenth', '{}');

-- --- B120: the provider's day in its own zone
select probe.delivered('2027-05-01 06:59:59Z', 61);  -- 30 April in Vancouver
select probe.delivered('2027-05-01 07:00:00Z', 62);  -- 1 May
select probe.clock_set('2027-05-03 02:00Z');
select probe.expect('B120 April', probe.counts(probe.import('2027-04-30', 'april', array[row(2, probe.request(61), 'credit', 250, 'EUR', '2027-05-01 06:59:59Z', 'ref61', null, '61')]::probe.line[], '{}', 'America/Vancouver')), 'matched=1');
select probe.expect('B120 May', probe.counts(probe.import('2027-05-01', 'may', array[row(2, probe.request(62), 'credit', 250, 'EUR', '2027-05-01 07:00Z', 'ref62', null, '62')]::probe.line[], '{}', 'America/Vancouver')), 'matched=1');
select probe.expect('B120 the window', (select largesse.time_text(from_at) || ' ' || largesse.time_text(until_at) from largesse.statement where business_date = '2027-04-30'),
  '2027-04-30T07:00:00.000000Z 2027-05-01T07:00:00.000000Z');
select probe.expect('B120 nothing found', probe.findings(), 'none');
-- Without a date it is that of its lines, in the profile's zone.
select probe.import(null, 'by its lines', array[row(2, probe.request(61), 'credit', 250, 'EUR', '2027-05-01 06:59:59Z', 'ref61', null, '61')]::probe.line[], '{}', 'America/Vancouver');
select probe.expect('by its lines', (select business_date::text from largesse.statement order by id desc limit 1), '2027-04-30');

-- --- delivered twice under one request id, on two days, whichever day's file comes first
select probe.delivered('2027-05-10 12:00Z', u) from generate_series(71, 72) u;
select probe.clock_set('2027-05-20 02:00Z');
create function probe.twice(i_user bigint, i_n bigint) returns probe.line language sql as $$
  select row(2, probe.request(i_user), 'credit', 250, 'EUR', timestamptz '2027-05-09 12:00Z' + i_n * interval '1 day', 'ref' || i_user || repeat('again', i_n::int - 1), null, i_user)::probe.line
$$;
select probe.import('2027-05-10', 'once', array[probe.twice(71, 1)]);
select probe.import('2027-05-11', 'twice', array[probe.twice(71, 2), row(3, probe.request(72), 'credit', 250, 'EUR', '2027-05-11 12:00Z', 'ref72again', null, '72')::probe.line]);
select probe.expect('twice on two days', probe.findings(), 'duplicate_effect 71 250');
select probe.import('2027-05-10', 'once, corrected', array[probe.twice(71, 1), row(3, probe.request(72), 'credit', 250, 'EUR', '2027-05-10 12:00Z', 'ref72', null, '72')::probe.line]);
select probe.expect('the later file was first', probe.findings(), 'duplicate_effect 71 250, duplicate_effect 72 250');
-- The file for the other day is corrected: what is there once now is no duplicate; and in force again, it is one again.
select probe.import('2027-05-10', 'without', array[row(3, probe.request(72), 'credit', 250, 'EUR', '2027-05-10 12:00Z', 'ref72', null, '72')::probe.line]);
select probe.expect('corrected', probe.findings(), 'duplicate_effect 72 250');
select probe.expect('and counted', probe.counts((select id::text from largesse.statement where business_date = '2027-05-11')), 'duplicates=1 findings=1 matched=1');
select probe.import('2027-05-10', 'once, corrected', '{}');
select probe.expect('in force again', probe.findings(), 'duplicate_effect 71 250, duplicate_effect 72 250');
select probe.import('2027-05-11', 'nothing twice', '{}');
select probe.expect('taken back there', probe.findings(), 'none');

-- What a corrected file lacks as well is what that file lacks.
select probe.delivered('2027-05-12 12:00Z', 73);
select probe.clock_set('2027-05-20 02:00Z');
select probe.expect('lacking', probe.counts(probe.import('2027-05-12', 'lacking', '{}')), 'findings=1 missingAtProvider=1');
select probe.expect('lacking still', probe.counts(probe.import('2027-05-12', 'lacking, with a fee', array[row(2, 'fee', 'ignored', 3, 'EUR', '2027-05-12 10:00Z', 'fee', null, '')]::probe.line[])),
  'findings=1 ignored=1 missingAtProvider=1');
select probe.expect('not the old one', (select string_agg(state || ' ' || (counts ->> 'findings'), ', ' order by id) from largesse.statement where business_date = '2027-05-12'), 'superseded 0, active 1');
select probe.expect('the same finding', (select string_agg(state, ',') from largesse.finding where key = 'statement_missing_at_provider/shop/' || probe.request(73)), 'open');
select probe.import('2027-05-12', 'whole', array[row(2, probe.request(73), 'credit', 250, 'EUR', '2027-05-12 12:00Z', 'ref73', null, '73')]::probe.line[]);

-- A line from a time to come waits no longer than others.
select probe.claim('2027-05-13 10:00Z', 74);
select probe.clock_set('2027-05-20 02:00Z');
select probe.expect('under way', probe.counts(probe.import('2027-05-13', 'to come', array[row(2, probe.request(74), 'credit', 250, 'EUR', '2099-05-13 10:00Z', 'ref74', null, '74')]::probe.line[])), 'notYetDue=1');
select probe.clock_set('2027-05-20 03:00Z');
select largesse.statement_match_open('shop', 10000);
select probe.expect('and due', probe.findings(), 'status_differs 74 250');
select probe.import('2027-05-13', 'nothing to come', '{}');

-- --- many findings: the first of a statement are written down, and it says how many there are in all
select probe.delivered('2027-06-10 10:00Z', u) from generate_series(101, 110) u;
select probe.clock_set('2027-06-12 02:00Z');
create function probe.wrong_amounts(i_amount bigint) returns probe.line[] language sql as $$
  select array_agg(row(u, probe.request(u), 'credit', i_amount, 'EUR', '2027-06-10 10:00Z', 'ref' || u, null, u)::probe.line) from generate_series(101, 108) u
$$;
create function probe.told(i_id text) returns text language sql as $$
  select d ->> 'clean' || ' ' || (d ->> 'findings') || ' ' || (d ->> 'findingsRecorded') || ' ' || coalesce(d ->> 'unrelated', 'related')
    from (select doc::json as d from largesse.statement_show(i_id::bigint)) s
$$;
create function probe.newest() returns text language sql as $$ select max(id)::text from largesse.statement $$;
select probe.expect('more than are written down', probe.counts(probe.import('2027-06-10', 'amounts', probe.wrong_amounts(251), i_findings_max => 5)), 'amountDiffers=8 findings=10 missingAtProvider=2');
select probe.expect('it says so', probe.told(probe.newest()), 'false 10 5 related');
select probe.expect('the first of them', probe.findings(), (select string_agg('amount_differs ' || u || ' 1', ', ') from generate_series(101, 105) u));
select probe.expect('each can be seen', (select count(*)::text from largesse.statement_lines(probe.newest()::bigint, 'finding', 0, 100)), '10');
select largesse.statement_match_open('shop', 9);
select largesse.statement_rematch(probe.newest()::bigint, 9);
select probe.expect('lines come before what it lacks', probe.findings(), (select string_agg('amount_differs ' || u || ' 1', ', ') from generate_series(101, 108) u) || ', missing_at_provider 109 250');
select largesse.statement_match_open('shop', 2);
select probe.expect('fewer', probe.findings(), 'amount_differs 101 1, amount_differs 102 1');
select probe.import('2027-06-10', 'amounts corrected', probe.wrong_amounts(250) || array[row(1, probe.request(109), 'credit', 250, 'EUR', '2027-06-10 10:00Z', 'ref109', null, '109'),
  row(2, probe.request(110), 'credit', 250, 'EUR', '2027-06-10 10:00Z', 'ref110', null, '110')]::probe.line[]);
select probe.expect('corrected', probe.findings(), 'none');
select probe.expect('and clean', probe.told(probe.newest()), 'true 0 0 related');

-- --- a file about nothing of ours is one finding; it proves nothing about what we hold
select probe.delivered('2027-06-13 10:00Z', 121);
select probe.clock_set('2027-06-15 02:00Z');
create function probe.strange(i_count int) returns probe.line[] language sql as $$
  select array_agg(row(n, case when n % 2 = 0 then '77-' || n else 'XK' || n end, 'credit', 250, 'EUR', '2027-06-13 10:00Z', 'strange' || n, null, n)::probe.line) from generate_series(1, i_count) n
$$;
select probe.expect('another''s file', probe.counts(probe.import('2027-06-13', 'strange', probe.strange(100))), 'findings=100 missingHere=100');
select probe.expect('one finding', probe.findings(), 'unrelated statement_unrelated/shop/2027-06-13');
select probe.expect('which says so', (select actual from largesse.finding where key = 'statement_unrelated/shop/2027-06-13'), 'none of its 100 lines is: file, statement ' || probe.newest());
select probe.expect('so does the statement', probe.told(probe.newest()), 'false 100 1 true');
select largesse.statement_match_open('shop', 10000);
select largesse.statement_rematch(probe.newest()::bigint, 10000);
select probe.expect('it stays one', probe.findings(), 'unrelated statement_unrelated/shop/2027-06-13');
-- Of another provider of ours: still nothing that this provider was asked for.
select probe.delivered('2027-06-13 10:00Z', 122, 'other');
select probe.import('2027-06-13', 'the other''s', probe.strange(100) || row(101, probe.request(122), 'credit', 250, 'EUR', '2027-06-13 10:00Z', 'ref122', null, '122')::probe.line);
select probe.expect('the other''s', probe.findings(), 'unrelated statement_unrelated/shop/2027-06-13');
-- One line that is known, or fewer lines: each of the others is a finding.
select probe.expect('one is known', probe.counts(probe.import('2027-06-13', 'one', probe.strange(100) || row(101, probe.request(121), 'credit', 250, 'EUR', '2027-06-13 10:00Z', 'ref121', null, '121')::probe.line)),
  'findings=100 matched=1 missingHere=100');
select probe.expect('each is told', probe.told(probe.newest()), 'false 100 100 related');
select probe.import('2027-06-13', 'few', probe.strange(99));
select probe.expect('few lines', probe.told(probe.newest()), 'false 100 100 related');  -- and what it lacks
select probe.import('2027-06-13', 'strange', '{}');
select probe.expect('in force again, what was known to be lacking still is', probe.findings(), 'missing_at_provider 121 250, unrelated statement_unrelated/shop/2027-06-13');
select probe.import('2027-06-13', 'right', array[row(1, probe.request(121), 'credit', 250, 'EUR', '2027-06-13 10:00Z', 'ref121', null, '121')]::probe.line[]);
select probe.expect('the right one takes its place', probe.findings(), 'none');

-- --- a provider whose statements could not be matched is one until they are
select largesse.statement_match_failed('shop', 'canceling statement due to statement timeout');
select probe.expect('not matched', (select string_agg(provider || ': ' || fault, ',') from largesse.statements_unmatched()), 'shop: canceling statement due to statement timeout');
select probe.expect('counted', (select amount::text from largesse.audit_figures() where figure = 'unmatched'), '1');
select largesse.statement_match_open('shop', 10000);
select probe.expect('matched', (select count(*)::text from largesse.statements_unmatched()), '0');

-- --- what cannot be: the caller rolls back
select probe.expect('an unknown zone', largesse.statement_begin('shop', 'Mars/Olympus', 'f', '1 hour', '{}', 'test')::text, null);
-- Nothing of another provider is touched.
select probe.expect('other providers', (select string_agg(distinct provider, ',') from largesse.finding where kind like 'statement%'), 'shop');

-- --- fetching: which date is due
create function probe.take() returns text language sql as $$ select coalesce((select business_date::text from largesse.statement_fetch_take('fetched', 'Asia/Shanghai', '01:00', 3, '15 minutes')), 'none') $$;
select probe.clock_set('2027-06-02 16:59Z');  -- 00:59 on the 3rd in Shanghai
select probe.expect('the latest one first', probe.take(), '2027-06-01');
select probe.expect('taken', probe.take(), 'none');
select probe.clock_set('2027-06-02 17:00Z');
select probe.expect('the next one', probe.take(), '2027-06-02');
select probe.clock_set('2027-06-02 17:14Z');
select largesse.statement_fetch_done('fetched', '2027-06-01', 'not fetched: 404', null, null);
select largesse.statement_fetch_done('fetched', '2027-06-02', null, null, null);
select probe.expect('tried again later', probe.take(), '2027-06-01');
select probe.expect('what is not here', (select largesse.statements_not_fetched('2027-06-03')::text), '[{"provider" : "fetched", "date" : "2027-06-01", "attempts" : 2, "fault" : "not fetched: 404"}]');
select probe.expect('not for ever', largesse.statements_not_fetched('2027-07-02')::text, null);
insert into largesse.statement (provider, business_date, time_zone, from_at, until_at, checksum, grace, terms, imported_at, imported_by)
  values ('fetched', '2027-05-31', 'Asia/Shanghai', '2027-05-30 16:00Z', '2027-06-01 16:00Z', sha256('two days'), '1 hour', '{}', now(), 'test');
select probe.expect('it came with the day before', largesse.statements_not_fetched('2027-06-03')::text, null);
delete from largesse.statement where provider = 'fetched';

-- --- claims of months that are archived and detached are ours all the same
select probe.clock_set('2028-06-02 02:00Z');
update largesse.activity set status = 'archived', end_at = '2027-06-01', latest_end_at = '2027-06-01';
insert into largesse.archive_month (month, state, rows, actor, sealed_at, detached_at) select distinct id / 1000000, 'detached', 1, 'test', now(), now() from largesse.activity;
do $$
declare
  v_name text := (select p.name from largesse.archive_partitions((select (id / 1000000)::int from largesse.activity where code = 'run')) p where p.parent = 'claim');
begin
  execute format('alter table largesse.claim detach partition %s', v_name);
  execute format('alter table %s set schema largesse_archive', v_name);
end $$;
create function probe.request_of_old(i_user bigint) returns text language sql as $$
  select l.activity_id || '-' || l.claim_id from largesse.statement s join largesse.statement_line l on l.statement_id = s.id where s.business_date = '2027-03-01' and l.user_id = i_user::text
$$;
select largesse.statement_rematch((select id from largesse.statement where business_date = '2027-03-01'), 10000);
select probe.expect('matched as before', probe.counts((select id::text from largesse.statement where business_date = '2027-03-01')), 'matched=2');
select probe.expect('taken back there alone, long after', probe.counts(probe.import('2028-06-01', 'long after', array[
  row(2, probe.request_of_old(1), 'reverse', 250, 'EUR', '2028-06-01 12:00Z', 'long after', null, '1')]::probe.line[])), 'findings=1 reversed=1');
select largesse.statement_match_open('shop', 10000);
select probe.expect('and so it stays', (select string_agg(key || ' ' || state, ', ') from largesse.finding where state <> 'gone' and kind = 'statement_reversed'), 'statement_reversed/shop/' || probe.request_of_old(1) || '-r open');
