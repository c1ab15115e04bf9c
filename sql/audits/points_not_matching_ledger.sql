-- SPDX-License-Identifier: Apache-2.0
-- Balances = sums of their ledgers, and = the balance after the last entry.
-- Accounts belong to no activity: each is looked at with the newest activity in which its user exchanged points; those that never did, with the newest exchange.
-- Parameters: i_activity_id. Result: a row per account that differs. Locks: none. Errors: none.
create or replace function largesse.audit_points_not_matching_ledger(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
set jit = off
as $$
  with exchanging as (
    select e.user_id from (select distinct e.user_id from largesse.points_entry e where e.activity_id = i_activity_id) e
     where not exists (select from largesse.points_entry later where later.user_id = e.user_id and later.activity_id > i_activity_id)
  ), others as (
    select u.user_id from (select a.user_id from largesse.points_account a union select e.user_id from largesse.points_entry e) u
     where i_activity_id = (select a.id from largesse.activity a order by a.kind = 'exchange' desc, a.id desc limit 1)
       and not exists (select from largesse.points_entry e where e.user_id = u.user_id and e.activity_id is not null)
  )
  select 'points user ' || u.user_id, null::bigint, format('balance %s', l.total),
         format('balance %s, after the last entry %s', coalesce(a.balance::text, 'missing'), coalesce(l.last, 0))
    from (select * from exchanging union all select * from others) u
    left join largesse.points_account a on a.user_id = u.user_id
    cross join lateral (select coalesce(sum(e.amount), 0) as total, (array_agg(e.balance order by e.id desc))[1] as last
                          from largesse.points_entry e where e.user_id = u.user_id) l
   where a.balance is distinct from l.total or coalesce(l.last, 0) <> l.total
$$;
select largesse.audit_register('points_not_matching_ledger', 'critical',
  'A balance is what its ledger sums to.',
  'a balance or an entry was changed by hand',
  'run the repair that is offered; where the entries contradict each other, find out which was changed (scheduler points show USER), set it right, and grant what is missing with this finding''s key: scheduler points grant USER --key KEY --reason',
  i_period => 'activity', i_repair => 'points_balance',
  i_suspect => 'exists (select from largesse.points_account) or exists (select from largesse.points_entry)');
