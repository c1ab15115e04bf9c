-- SPDX-License-Identifier: Apache-2.0
-- Audits that are proved by sums: one pass over an activity's claims answers all of them, and what has not changed since is not read again.

alter table largesse.audit_definition
  add column of_claims text[],                   -- aggregates over the claims of an activity, each of which adds up over parts of them
  add column suspect   text;                     -- an expression over these: false where the audit cannot have a row; null: it is always run

-- What an activity's stock was when it was published, for ever: a total that differs later was changed by hand. Null of older ones: not known.
alter table largesse.activity_history add column stock_total bigint;

-- Up to where the sums of an activity are known, in parts (audit_part) by ranges of claim ids. A part in which a claim has changed since is read again.
create table largesse.audit_mark (
  activity_id bigint primary key,
  definitions text not null,                     -- of which audits the sums are; others are made anew
  salt        bigint not null,                   -- of the fingerprints in them
  seen_at     timestamptz not null               -- all parts are right as of then
);
create table largesse.audit_part (
  activity_id bigint not null,
  from_id     bigint not null,                   -- claims with ids from here on, before the next part's
  claims      bigint not null,
  sums        numeric[] not null,
  primary key (activity_id, from_id)
);

-- Made anew with more parameters, columns and another owner by their files.
drop function if exists largesse.audit_register(text, text, text, text, text, text, text, text);

-- Which rewards an activity has ever given, by whatever changed it: what else a claim has was put there by hand.
create table largesse.activity_reward (
  activity_id bigint not null,
  reward_id   int,                               -- null: none
  from_at     timestamptz not null,
  unique nulls not distinct (activity_id, reward_id)
);
insert into largesse.activity_reward select a.id, a.reward_id, a.created_at from largesse.activity a;
insert into largesse.activity_reward
  select distinct c.activity_id, c.reward_id, '-infinity'::timestamptz from largesse.claim c on conflict do nothing;
create function largesse.activity_reward_note() returns trigger
language plpgsql security definer
set search_path = largesse, pg_temp
as $$
begin
  insert into largesse.activity_reward values (new.id, new.reward_id, new.changed_at) on conflict do nothing;
  return null;
end $$;
create trigger reward_note after insert or update of reward_id on largesse.activity
  for each row execute function largesse.activity_reward_note();
