-- SPDX-License-Identifier: Apache-2.0
-- Each waiting claim stands in the waiting list once, with its user and quantity, nobody else does, and the stock row says how many do.
-- Parameters: i_activity_id. Result: a row per claim or entry that differs, and one where the number does. Locks: none. Errors: none.
create or replace function largesse.audit_waiting_list_not_matching_claims(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'claim ' || coalesce(c.id, e.claim_id), c.id,
         case when c.id is null then 'nobody waits' else format('user %s waits for %s', c.user_id, c.quantity) end,
         case when e.claim_id is null then 'not in the list' else format('user %s in the list for %s', e.user_id, e.quantity) end
    from (select c.id, c.user_id, c.quantity from largesse.claim c where c.activity_id = i_activity_id and c.status = 'waiting') c
    full join (select e.claim_id, e.user_id, e.quantity from largesse.waiting_entry e where e.activity_id = i_activity_id) e on e.claim_id = c.id
   where (c.id, c.user_id, c.quantity) is distinct from (e.claim_id, e.user_id, e.quantity)
  union all
  select 'waiting', null, format('%s in the list', n.entries), format('the stock row says %s', s.waiting)
    from (select sum(s.waiting) as waiting from largesse.stock s where s.activity_id = i_activity_id) s
   cross join (select count(*) as entries from largesse.waiting_entry e where e.activity_id = i_activity_id) n
   where s.waiting <> n.entries
$$;
select largesse.audit_register('waiting_list_not_matching_claims', 'high',
  'Who waits stands in the list, and nobody else.',
  'an entry, a claim or the number in the stock row was changed by hand',
  'run the repair that is offered (findings repair KEY --dry-run, then with --reason)',
  i_period => 'activity', i_repair => 'waiting',
  i_of_claims => array[
    'sum(largesse.audit_hash(c.id, largesse.audit_hash(c.user_id, largesse.audit_hash(c.quantity, $5)))) filter (where c.status = ''waiting'')'],
  i_suspect => '(s[1], (select coalesce(sum(k.waiting), 0) from largesse.stock k where k.activity_id = ($1).id)) <>
    (select coalesce(sum(largesse.audit_hash(e.claim_id, largesse.audit_hash(e.user_id, largesse.audit_hash(e.quantity, $5)))), 0), count(*) from largesse.waiting_entry e where e.activity_id = ($1).id)');
