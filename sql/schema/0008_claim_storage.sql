-- SPDX-License-Identifier: Apache-2.0
-- Room in the pages of claims: a claim is written once when it is taken and once when it is settled. The first of these changes nothing that is indexed, so
-- that with room on the page it is an update in place, without a word to five indexes; the second finds its place where the first has gone.
-- New partitions get the same from partitions_ensure; what lies in old ones stays as it is.
do $$
declare
  v_partition regclass;
begin
  for v_partition in select i.inhrelid::regclass from pg_inherits i where i.inhparent = 'largesse.claim'::regclass loop
    execute format('alter table %s set (fillfactor = 50)', v_partition);
  end loop;
end $$;

-- Made anew with one parameter more by its file.
drop function if exists largesse.claim_settle(bigint[], bigint[], int[], int[], text[], text[], text[], int[], text[], text[], text[], timestamptz[], bigint[], bigint[], text[], bigint[], text[], text[], jsonb);
