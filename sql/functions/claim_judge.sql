-- SPDX-License-Identifier: Apache-2.0
-- What each of some requests would hear, by the rows as they are: the first check that refuses it, in the order of claim_submit_ruled.
-- Parameters: as claim_submit_ruled. Result: a row per request, in their order: known_id (the claim that has its bizId; nothing else is said then), or refusal and
-- detail (JSON members that explain it), or neither: it may be accepted. Locks: none; read only. Its caller's settings are in force. Errors: none.
create or replace function largesse.claim_judge(
  i_terms largesse.claim_terms, i_biz_ids text[], i_user_ids bigint[], i_quantities int[], i_channels text[], i_number_sets text[], i_queued_at timestamptz[],
  i_remaining bigint, i_waiting bigint, i_decision text)
returns table (ord bigint, quantity int, known_id bigint, refusal text, detail text)
language sql stable
as $$
  select r.ord, r.quantity, k.id, v.refusal,
         case v.refusal
           when 'ALREADY_REGISTERED' then '{"claim":' || g.claim || '}'
           when 'LIMIT_REACHED' then
             case when o.period is not null then largesse.limit_json(o.period, o.max_count, o.used, o.resets_at)
                  else largesse.limit_json('event', i_terms.event_max, e.used, null) end
           when 'CHANNEL_NOT_ALLOWED' then '{"channels":' || array_to_json(i_terms.channels)::text || '}'
           when 'EXCLUSIVE_GROUP' then
             json_build_object('exclusiveGroup', i_terms.exclusive_group, 'activityCode', (select a.code from largesse.activity a where a.id = m.activity_id))::text
           when 'INSUFFICIENT_POINTS' then format('{"balance":%s,"needed":%s}', p.balance, p.needed)
           when 'NUMBER_TAKEN' then format('{"numbers":%s}', array_to_json(n.numbers))
           when 'SOLD_OUT' then format('{"remaining":%s}', coalesce(i_remaining, 0)) end
    from unnest(i_biz_ids, i_user_ids, i_quantities, i_channels, i_number_sets, i_queued_at) with ordinality
           as r(biz_id, user_id, quantity, channel, number_set, queued_at, ord)
    left join lateral (
      select c.id from largesse.claim c where c.activity_id = i_terms.activity_id and c.biz_id = r.biz_id limit 1) k on true
    left join lateral (select largesse.claim_open_state(i_terms, r.queued_at) as refusal where i_queued_at is not null) w on true
    left join lateral (
      select l.period, coalesce(u.used, 0) as used, l.max_count,
             case when r.queued_at is null then l.resets_at else largesse.period_reset(l.period, r.queued_at, i_terms.zone) end as resets_at
        from unnest(i_terms.periods, i_terms.starts, i_terms.maxima, i_terms.resets) with ordinality as l(period, start, max_count, resets_at, n)
        left join lateral (
          select u.used from largesse.usage u
            where u.activity_id = i_terms.activity_id and u.user_id = r.user_id and u.period = l.period
              and u.period_start = case when r.queued_at is null then l.start else largesse.period_start(l.period, r.queued_at, i_terms.zone) end
            limit 1) u on true
        where coalesce(u.used, 0) + r.quantity > l.max_count
        order by l.n limit 1) o on true
    left join lateral (
      select coalesce(u.used, 0) as used
        from (select) one left join lateral (
          select u.used from largesse.event_usage u where u.event_code = i_terms.event_code and u.user_id = r.user_id limit 1) u on true
       where i_terms.event_max is not null and coalesce(u.used, 0) + r.quantity > i_terms.event_max) e on true
    -- A user who has a place is told so; so is one who waits for one, whatever the limit, and one who gave his up where that is for good.
    left join lateral (
      select largesse.claim_json(c, i_terms.code) as claim
        from largesse.claim c
       where i_terms.kind = 'registration' and k.id is null and c.activity_id = i_terms.activity_id and c.user_id = r.user_id
         and case c.status when 'waiting' then true when 'cancelled' then not i_terms.sign_up_again
               else (o.period is not null or e.used is not null) and c.status in ('offered', 'held', 'issuing', 'succeeded') end
         and (o.period is not null or e.used is not null or not i_terms.sign_up_again or i_waiting > 0)
       order by c.status = 'cancelled', c.id desc limit 1) g on true
    left join lateral (
      select true as is_blocked from largesse.blocked_user b
       where i_terms.has_blocked and b.activity_id = i_terms.activity_id and b.user_id = r.user_id limit 1) b on true
    left join lateral (
      select q.claim_id is null as is_free from largesse.qualification q
       where i_terms.needs_qualification and q.activity_id = i_terms.activity_id and q.user_id = r.user_id limit 1) q on true
    left join lateral (
      select g.activity_id from largesse.group_member g
       where i_terms.exclusive_group is not null and g.group_name = i_terms.exclusive_group and g.user_id = r.user_id
         and g.live > 0 and g.activity_id <> i_terms.activity_id limit 1) m on true
    left join lateral (
      select coalesce((select p.balance from largesse.points_account p where p.user_id = r.user_id), 0) as balance, i_terms.points_cost::numeric * r.quantity as needed
       where i_terms.points_cost is not null) p on true
    left join lateral (
      select array_agg(u.number order by u.number) as numbers
        from unnest(r.number_set::bigint[]) u(number)
        left join lateral (
          select a.status from largesse.activity_number a where a.activity_id = i_terms.activity_id and a.number = u.number limit 1) a on true
       where r.number_set is not null and a.status is distinct from 'available') n on true
    -- "offset 0": said once for each, not wherever it is used.
    cross join lateral (
      select case
               when k.id is not null then null
               when w.refusal is not null then w.refusal
               when g.claim is not null then 'ALREADY_REGISTERED'
               when o.period is not null or e.used is not null then 'LIMIT_REACHED'
               when b.is_blocked then 'BLOCKED'
               when i_terms.channels is not null and (r.channel = any (i_terms.channels)) is not true then 'CHANNEL_NOT_ALLOWED'
               when i_terms.needs_qualification and q.is_free is null then 'NOT_QUALIFIED'
               when not q.is_free then 'QUALIFICATION_USED'
               when i_terms.eligibility is not null and not largesse.claim_is_eligible(i_terms.eligibility, r.user_id, r.channel, r.quantity) then 'NOT_ELIGIBLE'
               when m.activity_id is not null then 'EXCLUSIVE_GROUP'
               when p.balance < p.needed then 'INSUFFICIENT_POINTS'
               when n.numbers is not null then 'NUMBER_TAKEN'
               -- A place for more people than there are places would be waited for in vain, and hold up everybody behind it.
               when i_decision = 'sold_out' or i_decision = 'wait' and r.quantity > (
                 select s.remaining + s.taken from largesse.stock s where s.activity_id = i_terms.activity_id and s.segment = 0) then 'SOLD_OUT' end as refusal
      offset 0) v
   order by r.ord
$$;
