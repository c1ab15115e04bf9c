-- SPDX-License-Identifier: Apache-2.0
-- What was done afterwards, by whom and why; and findings that come from more than the rows of activities.

-- Every act of an operator, appended by the transaction that does it. Each row's hash covers its content and the hash before it, so that nothing can be
-- changed, taken out or put in between without `reconciler log verify` saying where.
create table largesse.operator_log (
  seq         bigint primary key,                -- 1, 2, 3, …: no gaps
  at          timestamptz not null,
  actor       text not null,
  action      text not null,                     -- noun.verb: activity.publish, stock.adjust, dead_letters.retry, key.add
  target      text not null,                     -- the code, claim id, provider, operation … it was about
  reason      text,                              -- people must give one, programs may leave it out
  detail      text not null default '{}',        -- JSON: what exactly was asked for
  hash_before bytea not null,
  hash        bytea not null check (length(hash) = 32)
);
create index operator_log_by_target on largesse.operator_log (target, seq);
create index operator_log_by_actor on largesse.operator_log (actor, seq);

-- The newest row; whoever appends locks it, as the last lock of the transaction.
create table largesse.operator_log_head (
  one  boolean primary key default true check (one),
  seq  bigint not null,
  hash bytea not null
);
insert into largesse.operator_log_head (seq, hash) values (0, sha256('largesse operator log'));

create function largesse.operator_log_is_append_only() returns trigger
language plpgsql
as $$
begin
  raise exception 'the operator log is only appended to' using errcode = 'object_not_in_prerequisite_state';
end $$;
create trigger append_only before update or delete or truncate on largesse.operator_log
  for each statement execute function largesse.operator_log_is_append_only();

-- Where findings come from: audits of activities, statements of providers.
alter table largesse.audit_definition
  add column source text not null default 'audit' check (source in ('audit', 'statement')),
  -- How far back a difference can lie: rows of an activity as a whole, or claims by the day on which they changed.
  add column period text not null default 'activity' check (period in ('activity', 'day', 'month')),
  add column repair text;                        -- the function repair_<name> that can mend it; null: only people can

-- A person who knows better says so: the finding is out of the lists until what was seen differs from what was explained.
alter table largesse.finding
  add column provider      text,                 -- of a statement
  add column amount        bigint,               -- money that the difference is about, in minor units
  add column currency      text,
  add column resolved_at   timestamptz,
  add column resolved_by   text,
  add column resolve_reason text;
create index finding_live on largesse.finding (kind, key) where state <> 'gone';

alter table largesse.operation drop constraint operation_kind_check;
alter table largesse.operation add constraint operation_kind_check
  check (kind in ('retry', 'refund', 'resolve', 'roll_back', 'repair', 'explain'));
alter table largesse.operation_item add column finding_key text;
create index operation_item_by_finding on largesse.operation_item (finding_key) where finding_key is not null;

-- Made anew with more parameters by its file.
drop function if exists largesse.audit_register(text, text, text, text, text);
