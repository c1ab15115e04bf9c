-- SPDX-License-Identifier: Apache-2.0
-- All kinds of activity and all rules about who may claim: places with a waiting list, numbers with payment, exchanges for points; qualifications, eligibility,
-- exclusive groups, limits over the sessions of an event, channels, blocked users, segments of stock.
-- What belongs to an activity has a key that begins with it; what belongs to a user across activities (points, groups, event limits) one that begins with the user's side.

-- Terms of payment are versions like those of rewards, so that a claim keeps the price and provider under which it was made, on every retry. Codes of payment
-- terms are those of their activity, and never found as rewards.
alter table largesse.reward
  add column purpose text not null default 'delivery' check (purpose in ('delivery', 'payment')),
  add constraint reward_payment_has_amount check (purpose = 'delivery' or amount > 0);

alter table largesse.activity
  add column channels              text[] check (cardinality(channels) > 0),  -- null: every channel
  add column eligibility           text,                     -- a jsonpath predicate over {user, progress, request}; null: everybody
  add column needs_qualification   boolean not null default false,
  add column exclusive_group       text,
  add column points_cost           bigint check (points_cost > 0),            -- of one unit
  add column payment_id            int references largesse.reward (id),       -- price of one unit and who takes the payment
  add column hold_for              interval not null default '15 minutes' check (hold_for > '0'),
  add column late_payment          text not null default 'reallocate' check (late_payment in ('reallocate', 'refund', 'review')),
  add column on_refused            text not null default 'fail' check (on_refused in ('fail', 'review')),
  add column sign_up_again         boolean not null default true,
  add column waiting_max           int check (waiting_max > 0),               -- null: no waiting list
  add column accept_within         interval check (accept_within > '0'),      -- null: whoever is promoted has the place at once
  add column rate_limit            jsonb,                    -- {perUser?: {rate, burst}, total?: {rate, burst}}
  add column intake                text not null default 'direct' check (intake in ('direct', 'queued')),
  add column segments              smallint not null default 1 check (segments between 1 and 64),
  add column stock_follows_numbers boolean not null default false,            -- kind number without a total: its numbers are its stock
  add constraint activity_kind_exchange check ((kind = 'exchange') = (points_cost is not null)),
  add constraint activity_payment_is_of_numbers check (payment_id is null or kind = 'number'),
  add constraint activity_waiting_is_of_registrations check (waiting_max is null or kind = 'registration' and segments = 1),
  add constraint activity_numbers_in_one_segment check (kind <> 'number' or segments = 1);

-- Claims of one activity whose segments differ do not wait for each other. The waiting list is counted in segment 0.
alter table largesse.stock
  add column waiting int not null default 0 check (waiting >= 0);
create index stock_waiting on largesse.stock (activity_id) where waiting > 0;

-- A limit over all sessions of an event.
create table largesse.event_usage (
  event_code text not null references largesse.event (code),
  user_id    bigint not null,
  used       bigint not null check (used >= 0),
  max_used   bigint not null,
  primary key (event_code, user_id),
  check (used <= max_used)
) with (fillfactor = 80);

-- In which activity of a group a user has live claims (waiting, or holding stock), and how many; with none the row is anybody's.
create table largesse.group_member (
  group_name  text not null,
  user_id     bigint not null,
  activity_id bigint not null,
  live        int not null check (live >= 0),
  primary key (group_name, user_id)
) with (fillfactor = 80);

create table largesse.qualification (
  activity_id bigint not null,
  user_id     bigint not null check (user_id > 0),
  claim_id    bigint,                            -- the claim that uses it; null: unused
  source      text,
  batch       text,
  ext         jsonb,
  created_at  timestamptz not null,
  primary key (activity_id, user_id)
) with (fillfactor = 80);

create table largesse.blocked_user (
  activity_id bigint not null,
  user_id     bigint not null check (user_id > 0),
  reason      text,
  actor       text not null,
  at          timestamptz not null,
  primary key (activity_id, user_id)
);

create table largesse.user_attribute (
  user_id    bigint primary key check (user_id > 0),
  attributes jsonb not null check (jsonb_typeof(attributes) = 'object'),
  changed_at timestamptz not null
);
create table largesse.user_progress (
  user_id    bigint not null check (user_id > 0),
  task       text not null,
  value      numeric not null,
  changed_at timestamptz not null,
  primary key (user_id, task)
);

create table largesse.points_account (
  user_id bigint primary key check (user_id > 0),
  balance bigint not null check (balance >= 0)
) with (fillfactor = 80);

-- Every change of a balance, once per key: a grant's key is its caller's ('grant/' || bizId), a claim's is 'claim/<claimId>', and of its return 'return/<claimId>'.
create table largesse.points_entry (
  id          bigint generated always as identity primary key,
  user_id     bigint not null,
  key         text collate "C" not null,
  amount      bigint not null check (amount <> 0),
  balance     bigint not null check (balance >= 0),      -- after it
  reason      text,
  actor       text,
  activity_id bigint,
  claim_id    bigint,
  at          timestamptz not null,
  unique (user_id, key),
  check ((activity_id is null) = (claim_id is null))
);
create index points_entry_by_claim on largesse.points_entry (activity_id, claim_id) where activity_id is not null;

-- The set of a number activity. A number is held or sold by the claim that is named, and by nobody else.
create table largesse.activity_number (
  activity_id bigint not null,
  number      bigint not null check (number between 0 and 999999999999),
  status      text collate "C" not null default 'available' check (status in ('available', 'held', 'sold')),
  claim_id    bigint,
  pick        double precision not null default random(),   -- free numbers are listed at random by it, without counting them
  primary key (activity_id, number),
  check ((status = 'available') = (claim_id is null))
) with (fillfactor = 80);
create index activity_number_free on largesse.activity_number (activity_id, pick) where status = 'available';
create index activity_number_by_claim on largesse.activity_number (activity_id, claim_id) where claim_id is not null;

-- The waiting list in its order. A row for each waiting claim, and for nothing else.
create table largesse.waiting_entry (
  activity_id bigint not null,
  position    bigint generated always as identity,
  claim_id    bigint not null,
  user_id     bigint not null,
  quantity    int not null check (quantity > 0),
  primary key (activity_id, position),
  unique (activity_id, claim_id)
);
create index waiting_entry_by_user on largesse.waiting_entry (activity_id, user_id);

alter table largesse.claim
  add column deadline       timestamptz,         -- held: until when it must be paid; offered: until when accepted
  add column numbers        bigint[],            -- those asked for, ascending; what it holds now is in activity_number
  add column points         bigint check (points > 0),       -- debited for it in all
  add column payment_id     int,                 -- terms of payment: a row of reward
  add column payment        text check (payment in ('due', 'pending', 'retry', 'unknown', 'refused', 'done', 'void')),  -- void: never asked for, and never will be
  add column payment_ref    text,
  add column payment_url    text,                -- where the person pays
  add column refund         text check (refund in ('owed', 'pending', 'retry', 'unknown', 'refused', 'done')),
  add column refund_since   timestamptz,         -- when it was decided
  add column refunded_at    timestamptz,
  add constraint claim_payment_has_terms check (payment is null or payment_id is not null),
  add constraint claim_refund_of_payment check (refund is null or payment = 'done'),
  add constraint claim_refund_since check ((refund is null) = (refund_since is null));
create index claim_deadline on largesse.claim (deadline) where deadline is not null;
-- Due at the provider of payments; see claim_due.
create index claim_payment_due on largesse.claim (payment_id, next_attempt_at) where payment_id is not null and next_attempt_at is not null;
