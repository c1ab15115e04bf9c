-- SPDX-License-Identifier: Apache-2.0
-- Whether an activity takes claims at an instant, judged by its window first and its status second: a late status move
-- never lets a claim in early or late.
-- Parameters: i_status, i_start_at, i_end_at, i_now. Result: null when open, else the refusal's code. Locks, errors: none.
create or replace function largesse.activity_open_state(i_status text, i_start_at timestamptz, i_end_at timestamptz, i_now timestamptz)
returns text
language sql immutable parallel safe
as $$
  select case
    when i_status is null or i_status = 'draft' then 'ACTIVITY_NOT_FOUND'
    when i_status in ('finished', 'archived') or i_now >= i_end_at then 'ENDED'
    when i_status = 'paused' then 'PAUSED'
    when i_now < i_start_at then 'NOT_STARTED'
  end
$$;
