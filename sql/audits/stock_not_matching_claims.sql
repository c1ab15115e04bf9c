-- SPDX-License-Identifier: Apache-2.0
-- Quantity of the claims that hold stock + remaining = total + adjustments; and the counter of what was taken says the same. Here: units that are gone and that no
-- claim holds, or a counter that says so.
-- Parameters: i_activity_id. Result: at most one row. Locks: none. Errors: none.
create or replace function largesse.audit_stock_not_matching_claims(i_activity_id bigint)
returns table (subject text, claim_id bigint, expected text, actual text)
language sql stable parallel safe
as $$
  select 'stock', null::bigint,
         format('claims %s + remaining %s = total %s; taken %s', b.held,
                coalesce((b.total - b.held)::text, 'unlimited'), coalesce(b.total::text, 'unlimited'), b.held),
         format('claims %s + remaining %s = %s; taken %s', b.held, coalesce(b.remaining::text, 'unlimited'),
                coalesce((b.held + b.remaining)::text, 'unlimited'), coalesce(b.taken::text, 'no stock row'))
           -- As finding_cause reads it.
           || case when b.taken is null then ''
                   when largesse.audit_has_missing_claims(i_activity_id) then '; claims are missing'
                   when b.remaining is distinct from b.total - b.taken or b.taken = b.held then '; set wrongly'
                   when b.taken > b.held then '; taken without a record' else '; recorded without taking' end
    from (select coalesce(sum(c.quantity), 0) as held from largesse.claim c
           where c.activity_id = i_activity_id and c.status in (select s.status from largesse.claim_state s where s.holds_stock)) c
   cross join lateral largesse.audit_stock_of(i_activity_id, c.held) b
   where not b.is_matching
$$;
select largesse.audit_register('stock_not_matching_claims', 'critical',
  'Every unit of stock is either free or held by a claim.',
  'stock was taken without a record, a record was made without taking stock, or the initial stock was set wrongly',
  'compare the claims with the provider''s statement; then run the repair that is offered (findings repair KEY --dry-run, then with --reason): claims decide what is left. Where claims hold more than there is, add stock (scheduler stock adjust) or take claims back (claims roll-back)',
  i_period => 'activity', i_repair => 'stock',
  i_of_claims => array['sum(c.quantity) filter (where c.status = any ($2))'],
  i_suspect => '(select not b.is_matching from largesse.audit_stock_of(($1).id, s[1]) b)');
