-- SPDX-License-Identifier: Apache-2.0
-- Accepts the place that is kept for a claim. Row: as claim_cancel, then the lane and the attempt where there is something to deliver.
select c.outcome, c.detail, c.doc, c.is_changed, f.activity_id, f.claim_id, (c.doc::json ->> 'userId')::bigint, c.doc::json ->> 'status', c.provider, c.attempt
  from largesse.claim_find($1::text, $2::text) f cross join lateral largesse.claim_accept(f.activity_id, f.claim_id) c
