-- SPDX-License-Identifier: Apache-2.0
-- Actions: what a provider is asked to do with a request id of its own (deliver, charge, refund, reverse), and inquiries about each. A delivery can be taken
-- back; every call is recorded with what was sent and answered; a claim has a trace that everything about it goes on with.

-- Partitions were made with constraints of their own, so that the old one stays there when the parent's goes.
alter table largesse.claim drop constraint claim_step_check;
do $$
declare
  v_partition regclass;
begin
  for v_partition in select i.inhrelid::regclass from pg_inherits i where i.inhparent = 'largesse.claim'::regclass loop
    execute format('alter table %s drop constraint if exists claim_step_check', v_partition);
  end loop;
end $$;
alter table largesse.claim
  add constraint claim_step_check check (step in ('deliver', 'inquire', 'charge', 'inquire_charge', 'refund', 'inquire_refund', 'reverse', 'inquire_reverse')),
  add column trace          uuid,         -- written at the first take: later messages, calls, callbacks and webhooks go on with it
  add column doubted_at     timestamptz,  -- a callback said "failed" while a call was under way: due at once when that call is settled
  -- Taking a delivery back. `outcome` stays that of the delivery.
  add column reversal       text check (reversal in ('owed', 'pending', 'retry', 'unknown', 'refused', 'done', 'not_found')),   -- how far it is; null: none
  add column reversal_since timestamptz,  -- when it was decided
  add column reversed_at    timestamptz,  -- the provider really took it back
  add constraint claim_reversal_since check ((reversal is null) = (reversal_since is null));

-- Several calls under one lease each have a row.
alter table largesse.attempt
  drop constraint attempt_pkey,
  add column call    smallint not null default 1,
  add primary key (activity_id, claim_id, attempt, call),
  add column code    text,                -- the provider's, or ours where it gave none
  add column request text,                -- as sent and as answered, capped, secrets and personal data masked; null: plainly done at the first try
  add column answer  text,
  add column trace   uuid;

-- Letters with the same provider and fingerprint have the same cause.
alter table largesse.dead_letter
  add column code        text,
  add column fingerprint text;
update largesse.dead_letter d
   set fingerprint = d.cause || coalesce(': ' || left(regexp_replace(d.detail, '[0-9]+', '#', 'g'), 120), '');
create index dead_letter_by_fingerprint on largesse.dead_letter (provider, fingerprint) where closed_at is null;

-- Made anew with other parameters or columns by their files.
drop function if exists largesse.claim_take(bigint[], bigint[], int[], interval, interval, text);
drop function if exists largesse.claim_settle(bigint[], bigint[], int[], text[], text[], int[], text[], text[], text[], timestamptz[], bigint[], bigint[], text[], bigint[]);
