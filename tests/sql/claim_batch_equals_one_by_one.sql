-- SPDX-License-Identifier: Apache-2.0
-- The same seeded requests (repeated clicks, reused bizIds, users over their limit, mixed quantities, the last units), once in batches of many sizes
-- and once one by one on a second activity: equal answers, equal tables.
create schema probe;
create function probe.make(i_code text, i_total bigint, i_limits jsonb) returns bigint language plpgsql as $$
declare v_id bigint;
begin
  perform largesse.reward_put('probe', 'simulator', 100, 'CNY', '{}');
  perform largesse.activity_put(jsonb_build_object('code', i_code, 'name', i_code, 'kind', 'reward', 'timeZone', 'Asia/Shanghai', 'rewardCode', 'probe',
    'startAt', now() - interval '1 hour', 'endAt', now() + interval '1 day', 'stock', jsonb_build_object('total', i_total), 'limits', i_limits), 'test', null);
  perform largesse.activity_action(i_code, 'publish', 'test', null, null);
  select id into v_id from largesse.activity where code = i_code;
  return v_id;
end $$;

create function probe.compare(i_seed float, i_rows int, i_users int, i_keys int, i_total bigint, i_limits jsonb, i_name text) returns void language plpgsql as $$
declare
  v_a bigint := probe.make(i_name || '-a', i_total, i_limits);
  v_b bigint := probe.make(i_name || '-b', i_total, i_limits);
  v_at int := 1; v_size int; v_n int;
begin
  perform setseed(i_seed);
  drop table if exists request, answer_a, answer_b;
  create temp table request as
    select n, 'k' || (random() * i_keys)::int as biz, 1 + (random() * i_users)::bigint as usr, 1 + (random() * 1.4)::int as qty,
           case when random() < 0.1 then 'APP' end as channel from generate_series(1, i_rows) n order by n;
  -- Half of the repeats are honest: same bizId, same content.
  update request r set usr = f.usr, qty = f.qty, channel = f.channel
    from (select distinct on (biz) * from request order by biz, n) f where f.biz = r.biz and r.n % 2 = 0;
  create temp table answer_a (n int, verdict text, detail text);
  create temp table answer_b (n int, verdict text, detail text);
  while v_at <= i_rows loop
    v_size := 1 + (random() * 60)::int;
    insert into answer_a
      select v_at - 1 + s.ord, s.verdict, s.detail
        from (select array_agg(biz order by n) b, array_agg(usr order by n) u, array_agg(qty order by n) q, array_agg(channel order by n) c
                from request where n >= v_at and n < v_at + v_size) r
        cross join lateral largesse.claim_submit(v_a, r.b, r.u, r.q, r.c, '5 s') s where s.ord > 0;
    v_at := v_at + v_size;
  end loop;
  for v_n in 1 .. i_rows loop
    insert into answer_b
      select v_n, s.verdict, s.detail from request r
        cross join lateral largesse.claim_submit(v_b, array[r.biz], array[r.usr], array[r.qty], array[r.channel], '5 s') s where r.n = v_n and s.ord > 0;
  end loop;
  select count(*) into v_n from answer_a a full join answer_b b using (n)
    where a.verdict is distinct from b.verdict
       or a.verdict <> 'REPLAYED' and a.detail is distinct from b.detail
       or a.verdict = 'REPLAYED' and (a.detail::jsonb - '{claimId,activityCode,createdAt,updatedAt,delivery}'::text[])
                         is distinct from (b.detail::jsonb - '{claimId,activityCode,createdAt,updatedAt,delivery}'::text[]);
  if v_n > 0 then raise exception '%: % answers differ', i_name, v_n; end if;
  if (select count(distinct verdict) from answer_a) < 4 then raise exception '%: the requests are too tame: %', i_name, (select array_agg(distinct verdict) from answer_a); end if;
  if exists (select biz_id, user_id, quantity, channel, status from largesse.claim where activity_id = v_a
             except select biz_id, user_id, quantity, channel, status from largesse.claim where activity_id = v_b)
     or (select count(*) from largesse.claim where activity_id = v_a) <> (select count(*) from largesse.claim where activity_id = v_b) then
    raise exception '%: claims differ', i_name;
  end if;
  if exists (select user_id, period, period_start, used from largesse.usage where activity_id = v_a
             except select user_id, period, period_start, used from largesse.usage where activity_id = v_b)
     or (select count(*) from largesse.usage where activity_id = v_a) <> (select count(*) from largesse.usage where activity_id = v_b) then
    raise exception '%: usage differs', i_name;
  end if;
  if (select remaining from largesse.stock where activity_id = v_a) is distinct from (select remaining from largesse.stock where activity_id = v_b) then
    raise exception '%: stock differs', i_name;
  end if;
  if exists (select from largesse.audit_definition d, largesse.audit_run(d.name, v_a)) then raise exception '%: the audit has findings', i_name; end if;
end $$;

select probe.compare(0.1, 900, 120, 500, 100, '[{"count": 1, "period": "total"}]', 'scarce');
select probe.compare(0.2, 900, 60, 600, 100000, '[{"count": 3, "period": "total"}, {"count": 2, "period": "day"}]', 'two-limits');
select probe.compare(0.3, 900, 500, 700, 300, '[]', 'no-limits');
select probe.compare(0.4, 900, 300, 100000, 250, '[{"count": 2, "period": "day"}]', 'last-units');
