-- SPDX-License-Identifier: Apache-2.0
-- Operations about findings: an item is named by its finding, and says what was and what is there in its place. A finding of a provider's statement has no activity, one
-- of an activity as a whole no claim.
alter table largesse.operation_item
  add column before text,                        -- what the operation found
  add column after  text;                        -- what it left
do $$
declare
  v_name text := (select c.conname from pg_constraint c
                   where c.conrelid = 'largesse.operation_item'::regclass and pg_get_constraintdef(c.oid) like '%activity_id IS NULL) = (claim_id IS NULL%');
begin
  execute format('alter table largesse.operation_item drop constraint %I', v_name);
end $$;
alter table largesse.operation_item add constraint operation_item_about
  check (case when finding_key is not null then letter_id is null else (activity_id is null) = (claim_id is null) end);

-- Findings in the order of when they were opened, page by page.
create index finding_by_time on largesse.finding (opened_at, key);

-- Made anew with more parameters by their files.
drop function if exists largesse.operation_targets(text, bigint[], bigint[], bigint[], text, text, text, text);
drop function if exists largesse.operation_preview(text, bigint[], bigint[], bigint[], text, text, text, text, boolean);
drop function if exists largesse.operation_begin(text, bigint[], bigint[], bigint[], text, text, text, text, text, text, text, boolean, int, text);
drop function if exists largesse.operation_item_json(bigint, bigint, bigint, text);
drop function if exists largesse.finding_list(text, text, text, text, int);
