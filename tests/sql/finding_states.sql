-- SPDX-License-Identifier: Apache-2.0
-- A finding keeps its identity from night to night: opened, open, gone, opened again; and what a person has explained stays gone until it says something else.
create schema probe;
create function probe.state(i_key text) returns text language sql as $$
  select concat_ws(' ', f.state, case when f.gone_at is not null then 'gone' end, f.resolved_by, f.expected || '/' || f.actual) from largesse.finding f where f.key = i_key
$$;
create procedure probe.expect(i_key text, i_state text) language plpgsql as $$
begin
  if probe.state(i_key) is distinct from i_state then raise exception '% is %, not %', i_key, probe.state(i_key), i_state; end if;
end $$;
-- As each night does: what is not seen any more is gone.
create function probe.night(i_seen text[], i_actual text) returns bigint language sql as $$
  select count(*) from largesse.finding_record(array[1::bigint], array['usage_not_matching_claims'], i_seen, array_fill('usage_not_matching_claims'::text, array[cardinality(i_seen)]),
    array_fill(1::bigint, array[cardinality(i_seen)]), array_fill(null::bigint, array[cardinality(i_seen)]),
    array_fill('2'::text, array[cardinality(i_seen)]), array_fill(i_actual, array[cardinality(i_seen)]))
$$;
create procedure probe.told(i_told bigint, i_expected bigint) language plpgsql as $$
begin
  if i_told <> i_expected then raise exception '% findings told, not %', i_told, i_expected; end if;
end $$;

call probe.told(probe.night('{k,l}', '3'), 2);
call probe.expect('k', 'opened 2/3');
call probe.told(probe.night('{k,l}', '3'), 2);
call probe.expect('k', 'open 2/3');
call probe.told(probe.night('{l}', '3'), 2);  -- one open, one just gone
call probe.expect('k', 'gone gone 2/3');
call probe.told(probe.night('{k}', '3'), 2);
call probe.expect('k', 'opened 2/3');

-- Explained: it is neither told nor opened while it says the same, however often it is seen.
update largesse.finding set state = 'gone', gone_at = now(), resolved_at = now(), resolved_by = 'ann', resolve_reason = 'known' where key = 'k';
call probe.told(probe.night('{k}', '3'), 0);
call probe.told(probe.night('{k}', '3'), 0);
call probe.expect('k', 'gone gone ann 2/3');
do $$ begin
  if (select f.last_seen_at <= f.gone_at from largesse.finding f where f.key = 'k') then raise exception 'when it was last seen is not kept'; end if;
end $$;
-- Unseen for a night, it still is what was explained.
call probe.told(probe.night('{}', '3'), 0);
call probe.told(probe.night('{k}', '3'), 0);
-- Another figure: it is opened again, and nobody has explained that.
call probe.told(probe.night('{k}', '4'), 1);
call probe.expect('k', 'opened 2/4');
call probe.told(probe.night('{k}', '3'), 1);
call probe.expect('k', 'open 2/3');

-- Money, a provider and no activity; a key that comes twice; a kind that is not declared.
select largesse.audit_register('statement_probe', 'high', 'x', 'x', 'x', 'day', null, 'statement');
select largesse.finding_upsert('{s,s,t}', '{statement_probe,statement_probe,no_such_kind}', '{null,null,null}', '{null,null,null}', '{a,b,c}', '{d,e,f}',
                               '{shop,shop,shop}', '{100,101,102}', '{KWD,KWD,KWD}');
call probe.expect('s', 'opened b/e');
call probe.expect('t', null);
do $$ begin
  if not exists (select from largesse.finding f where f.key = 's' and (f.provider, f.amount, f.currency, f.severity) = ('shop', 101, 'KWD', 'high') and f.activity_id is null) then
    raise exception 'the provider or the amount of a finding is lost';
  end if;
end $$;
-- A night of audits leaves the findings of statements alone.
call probe.told(probe.night('{k}', '3'), 1);
call probe.expect('s', 'opened b/e');
