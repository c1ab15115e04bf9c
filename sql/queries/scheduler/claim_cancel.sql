-- SPDX-License-Identifier: Apache-2.0
-- Gives a claim up that is found by its click. Row: outcome, detail, claim JSON, whether it changed, activity, claim, its user and status now. No row: there is no such claim.
select c.outcome, c.detail, c.doc, c.is_changed, f.activity_id, f.claim_id, (c.doc::json ->> 'userId')::bigint, c.doc::json ->> 'status'
  from largesse.claim_find($1::text, $2::text) f cross join lateral largesse.claim_cancel(f.activity_id, f.claim_id, $3::text) c
