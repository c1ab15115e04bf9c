-- SPDX-License-Identifier: Apache-2.0
-- Whether a provider confirmed that it took a claim's delivery back: by the answer to a call, or by a callback. Parameters: the claim. Result: the answer. Locks, errors: none.
create or replace function largesse.audit_is_reversed(i_activity_id bigint, i_claim_id bigint) returns boolean
language sql stable parallel safe
as $$
  select exists (select from largesse.attempt t where t.activity_id = i_activity_id and t.claim_id = i_claim_id and t.outcome = 'done' and t.step in ('reverse', 'inquire_reverse'))
      or exists (select from largesse.callback b where b.activity_id = i_activity_id and b.claim_id = i_claim_id and b.outcome = 'done' and b.action = 'reverse' and b.state = 'applied')
$$;
