-- SPDX-License-Identifier: Apache-2.0
-- What claim_submit reads once under the stock lock and judges every claim of a batch by.
create type largesse.claim_terms as (
  activity_id     bigint,
  code            text,
  kind            text,
  activity_status text,
  start_at        timestamptz,
  end_at          timestamptz,
  zone            text,
  now             timestamptz,                   -- the instant of the judgement
  sweep_at        timestamptz,                   -- when a new claim is looked at again if nothing is heard
  hold_until      timestamptz,                   -- of a new claim that must be paid
  reward_id       int,
  payment_id      int,
  status          text,                          -- of a new claim, and what comes next for it
  step            text,
  periods         text[],                        -- the limits of this activity alone, in the order in which they are named
  starts          date[],
  maxima          bigint[],
  resets          timestamptz[],
  event_code      text,
  event_max       bigint,                        -- the limit over all sessions of the event; null: none
  channels        text[],
  eligibility     jsonpath,
  needs_qualification boolean,
  has_blocked     boolean,                       -- there are users who are blocked here
  exclusive_group text,
  points_cost     bigint,
  sign_up_again   boolean,
  waiting_max     int,
  segments        int,
  is_plain        boolean                        -- nothing but window, limits and stock decides
);

-- Made anew with more parameters by their files.
drop function if exists largesse.claim_submit(bigint, text[], bigint[], int[], text[], interval);
drop function if exists largesse.claim_submit_in_order(bigint, text[], bigint[], int[], text[], timestamptz, timestamptz, text, int, text[], date[], bigint[], timestamptz[]);
drop function if exists largesse.claim_submit_together(bigint, text[], bigint[], int[], text[], timestamptz, timestamptz, text, int, text[], date[], bigint[], timestamptz[], bigint);
drop function if exists largesse.claim_lookup(bigint, text[], bigint[], int[], text[]);
