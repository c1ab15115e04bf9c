-- SPDX-License-Identifier: Apache-2.0
-- Discounts on orders: rules in versions, so that a redemption keeps the terms under which it was made; redemptions with their lines, and the coupons
-- that they used up.

create table largesse.discount_rule (
  version         bigint generated always as identity primary key,
  id              text collate "C" not null check (id ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  name            text not null,
  threshold       bigint not null check (threshold >= 0),
  amount          bigint check (amount > 0),                         -- off for each use, in minor units
  percent         int check (percent between 1 and 100),             -- off once, of what is left of the order
  max_per_order   int check (max_per_order between 1 and 1000),      -- null: no maximum
  exclusive_group text,
  priority        int not null,                                      -- the lower number first
  reward_code     text,                                              -- each use takes one coupon: a succeeded claim of it
  currency        text check (currency ~ '^[A-Z]{3}$'),              -- null: orders of any currency
  start_at        timestamptz,
  end_at          timestamptz,
  actor           text not null,
  created_at      timestamptz not null,
  replaced_at     timestamptz,                                       -- null: the version in force
  check ((amount is null) <> (percent is null)),
  check (end_at > start_at)
);
create unique index discount_rule_in_force on largesse.discount_rule (id) where replaced_at is null;
create index discount_rule_by_end on largesse.discount_rule (end_at) where replaced_at is null;
create index discount_rule_by_reward on largesse.discount_rule (reward_code) where replaced_at is null and reward_code is not null;

-- What became of an order. After a release the order may be redeemed again: another row.
create table largesse.redemption (
  id          bigint generated always as identity primary key,
  order_id    text collate "C" not null check (order_id ~ '^[A-Za-z0-9._:-]{1,64}$'),
  asked       jsonb not null,                                        -- lines, coupons, currency as they came: another content is another order
  answer      jsonb not null,                                        -- as discount_evaluate gave it
  total       bigint not null check (total >= 0),
  discount    bigint not null check (discount >= 0),
  payable     bigint not null check (payable >= 0),
  redeemed_at timestamptz not null,
  redeemed_by text not null,
  released_at timestamptz,
  released_by text,
  check (payable = total - discount),
  check ((released_at is null) = (released_by is null))
);
create unique index redemption_in_force on largesse.redemption (order_id) where released_at is null;
create index redemption_by_order on largesse.redemption (order_id, id);

create table largesse.redemption_line (
  redemption_id bigint not null references largesse.redemption (id),
  n             int not null,                                        -- its place in the order, from 1
  line_id       text not null,
  amount        bigint not null check (amount >= 0),
  discount      bigint not null check (discount >= 0),
  primary key (redemption_id, n),
  check (discount <= amount)
);

-- Each rule that was applied, with its terms; one with coupons has a row for each of them.
create table largesse.redemption_rule (
  redemption_id bigint not null references largesse.redemption (id),
  n             int not null,                                        -- in the order of evaluation, from 1
  version       bigint not null references largesse.discount_rule (version),
  uses          bigint not null check (uses > 0),
  discount      bigint not null check (discount > 0),
  activity_id   bigint,                                              -- the coupon
  claim_id      bigint,
  primary key (redemption_id, n),
  check ((activity_id is null) = (claim_id is null))
);
create index redemption_rule_by_coupon on largesse.redemption_rule (activity_id, claim_id) where activity_id is not null;

-- A claim is as many coupons as its quantity, each used once: no two rows of one unit are in force.
create table largesse.coupon_use (
  activity_id   bigint not null,
  claim_id      bigint not null,
  unit          int not null check (unit > 0),
  redemption_id bigint not null,
  n             int not null,                                        -- of redemption_rule
  released_at   timestamptz,
  primary key (activity_id, claim_id, unit, redemption_id),
  foreign key (redemption_id, n) references largesse.redemption_rule (redemption_id, n)
);
create unique index coupon_use_in_force on largesse.coupon_use (activity_id, claim_id, unit) where released_at is null;
create index coupon_use_by_redemption on largesse.coupon_use (redemption_id);

-- The audit looks at the redemptions of the time in which an activity was the last to have started.
create index redemption_by_time on largesse.redemption (redeemed_at);
create index activity_by_start on largesse.activity (start_at, id);
