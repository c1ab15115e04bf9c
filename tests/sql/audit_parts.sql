-- SPDX-License-Identifier: Apache-2.0
-- Of an activity with very many claims only what has changed is read again, and it comes to the same: kept sums follow every change that is told, and none is used
-- where everything is asked for or what they are of has changed.
create schema probe;
create or replace function largesse.audit_keep_from() returns bigint language sql immutable parallel safe as $$ select 1000::bigint $$;
create or replace function largesse.audit_part_bits() returns int language sql immutable parallel safe as $$ select 10 $$;
create function probe.expect(i_what text, i_got text, i_wanted text) returns void language plpgsql as $$
begin
  if i_got is distinct from i_wanted then raise exception '%: expected %, got %', i_what, i_wanted, i_got; end if;
end $$;
-- Suspects beside what is always run, and what is for every claim that ended; and what was read: all, or how many parts.
create function probe.screen(i_is_whole boolean, i_keep boolean default true) returns text language plpgsql as $$
declare v record; v_id bigint := (select a.id from largesse.activity a where a.code = 'big');
begin
  select string_agg(s.name, ' ' order by s.name) filter (where d.suspect is not null and d.name <> 'claim_failed_but_delivered') as suspects, max(s.to_keep)::json as doc
    into v from largesse.audit_screen(v_id, i_is_whole) s left join largesse.audit_definition d on d.name = s.name;
  if v.doc is not null and i_keep and not largesse.audit_keep(v_id, v.doc::text) then raise exception 'not kept'; end if;
  return coalesce(v.suspects, 'clean') || case when v.doc is null then ', nothing to keep' when v.doc ->> 'before' is null then ', all read'
                                               else ', ' || json_array_length(v.doc -> 'parts') || ' read' end;
end $$;
select largesse.activity_put(jsonb_build_object('code', 'big', 'name', 'big', 'kind', 'registration', 'timeZone', 'UTC', 'startAt', now() - interval '2 days',
  'endAt', now() + interval '1 day', 'stock', '{"total": 1000000}'::jsonb, 'limits', '[{"count": 2, "period": "total"}, {"count": 2, "period": "day"}]'::jsonb), 'test', null);
select largesse.activity_action('big', 'publish', 'test', null, null);
create function probe.fill(i_from int, i_to int) returns void language sql as $$
  insert into largesse.claim (activity_id, user_id, created_at, updated_at, succeeded_at, quantity, biz_id, status)
    select a.id, n, now() - interval '1 day', now() - interval '1 day', now() - interval '1 day', 1, 'b' || n, 'succeeded' from largesse.activity a, generate_series(i_from, i_to) n;
  insert into largesse.usage (activity_id, user_id, period, period_start, used, max_used)
    select a.id, n, l.period, largesse.period_start(l.period, now() - interval '1 day', 'UTC'), 1, 2
      from largesse.activity a join largesse.activity_limit l on l.activity_id = a.id, generate_series(i_from, i_to) n;
  update largesse.stock set remaining = remaining - (i_to - i_from + 1), taken = taken + (i_to - i_from + 1);
$$;
select probe.fill(1, 500);
select probe.expect('few are always read', probe.screen(false), 'clean, nothing to keep');
select probe.fill(501, 1500);
select probe.expect('the first time', probe.screen(false), 'clean, all read');
select probe.expect('parts', count(*)::text || ' of ' || sum(claims), '2 of 1500') from largesse.audit_part;
select probe.expect('nothing has changed', probe.screen(false), 'clean, 0 read');

-- A change that is told is followed, in its part alone; so is what stands against the claims.
update largesse.claim set status = 'cancelled', updated_at = now(), ended_at = now() where user_id = 7;
select probe.expect('a claim', probe.screen(false), 'stock_not_matching_claims usage_not_matching_claims user_over_limit, 1 read');
select probe.expect('still there', probe.screen(false), 'stock_not_matching_claims usage_not_matching_claims user_over_limit, 1 read');
update largesse.stock set remaining = remaining + 1, taken = taken - 1;
update largesse.usage set used = 0 where user_id = 7;
select probe.expect('put right', probe.screen(false), 'clean, 1 read');
update largesse.usage set used = 2 where user_id = 8 and period = 'total';
select probe.expect('a counter', probe.screen(false), 'usage_not_matching_claims user_over_limit, 1 read');
update largesse.usage set used = 1 where user_id = 8;
select probe.expect('the way of the house', string_agg(s.verdict, ' '), 'ACCEPTED ACCEPTED')
  from largesse.activity a, largesse.claim_submit(a.id, '{n1,n2}', '{9,1000000}', '{1,1}', '{null,null}', '5 s') s where s.ord > 0;
select probe.expect('is clean', probe.screen(false), 'clean, 2 read');
select probe.expect('and all of it too', probe.screen(true), 'clean, all read');

-- A row that was changed by hand, and does not say so, is found when all is read.
update largesse.claim set quantity = 2 where user_id = 1400;
update largesse.audit_mark set seen_at = seen_at + interval '1 hour';
select probe.expect('a mark of the future counts for nothing', probe.screen(false, false), 'stock_not_matching_claims usage_not_matching_claims user_over_limit, all read');
update largesse.audit_mark set seen_at = seen_at - interval '1 hour';
select probe.expect('by hand', probe.screen(true), 'stock_not_matching_claims usage_not_matching_claims user_over_limit, all read');
update largesse.claim set quantity = 1 where user_id = 1400;
select probe.expect('by hand again', probe.screen(true), 'clean, all read');

-- What the sums are of: other limits, another window.
select probe.expect('limits', outcome, 'updated') from largesse.activity_put(jsonb_build_object('code', 'big', 'name', 'big', 'kind', 'registration', 'timeZone', 'UTC', 'status', (select status from largesse.activity),
  'startAt', (select start_at from largesse.activity), 'endAt', (select end_at from largesse.activity), 'stock', '{"total": 1000000}'::jsonb, 'limits', '[{"count": 2, "period": "total"}]'::jsonb), 'test', null);
select probe.expect('begins anew', probe.screen(false), 'clean, all read');
update largesse.activity set start_at = now() - interval '1 hour';
select probe.expect('a window', probe.screen(false), 'claim_outside_window, all read');

-- Whoever was slower keeps nothing.
do $$
declare v_id bigint := (select a.id from largesse.activity a); v_doc text; v_slow text;
begin
  select to_keep into v_slow from largesse.audit_screen(v_id, false) where to_keep is not null;
  select to_keep into v_doc from largesse.audit_screen(v_id, false) where to_keep is not null;
  perform probe.expect('the first', largesse.audit_keep(v_id, v_doc)::text, 'true');
  perform probe.expect('the second', largesse.audit_keep(v_id, v_slow)::text, 'false');
end $$;
