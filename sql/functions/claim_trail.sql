-- SPDX-License-Identifier: Apache-2.0
-- Everything that is known about one claim, in the order in which it happened.

-- The instants that the claim itself remembers. Parameters: i_claim. Result: instant, and what happened then, for people. Locks, errors: none.
create or replace function largesse.claim_trail_of_row(i_claim largesse.claim) returns table (at timestamptz, place int, body text, detail jsonb)
language sql stable
set search_path = largesse, pg_temp
as $$
  select m.at, m.place, m.body, jsonb_strip_nulls(m.detail)
    from (values
      (i_claim.created_at, 0, 'the claim was made', jsonb_build_object('quantity', i_claim.quantity, 'numbers', i_claim.numbers, 'channel', i_claim.channel, 'points', i_claim.points)),
      (i_claim.expired_at, 5, 'its hold or offer ran out', '{}'),
      (i_claim.paid_at, 5, 'it was paid', jsonb_build_object('ref', i_claim.payment_ref)),
      (i_claim.payment_closed_at, 6, 'its order was closed unpaid at its provider', '{}'),
      (i_claim.issued_at, 6, 'its delivery came due', '{}'),
      (i_claim.succeeded_at, 7, 'it succeeded', jsonb_build_object('ref', i_claim.provider_ref)),
      (i_claim.review_since, 8, format('it waits for a person: %s', i_claim.review_cause), jsonb_build_object('cause', i_claim.review_cause)),
      (i_claim.reversal_since, 8, 'it is to be taken back at its provider', jsonb_build_object('reversal', i_claim.reversal)),
      (i_claim.reversed_at, 9, 'its provider has taken it back', '{}'),
      (i_claim.refund_since, 8, 'it is to be paid back', jsonb_build_object('refund', i_claim.refund)),
      (i_claim.refunded_at, 9, 'it was paid back', '{}'),
      (i_claim.ended_at, 10, format('it ended: %s', i_claim.status), jsonb_build_object('code', i_claim.failure_code, 'detail', i_claim.failure_detail))) m(at, place, body, detail)
   where m.at is not null
$$;

-- The trail of a claim: what it remembers itself, its wait in the queue, each call to a provider and each callback, its dead letters, what people ordered, points, findings and the
-- operator log. Parameters: i_activity_id, i_claim_id, i_limit: items at most. Result: {claim, activity, items: [{at, what, by, text, detail}], isCut} as JSON text;
-- null: there is no such claim. Locks: none. Errors: none.
create or replace function largesse.claim_trail(i_activity_id bigint, i_claim_id bigint, i_limit int) returns text
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
declare
  v_claim largesse.claim := (largesse.claim_rows(array[i_activity_id], array[i_claim_id]))[1];
  v_activity largesse.activity;
begin
  select * into v_activity from largesse.activity a where a.id = i_activity_id;
  if v_claim.id is null or v_activity.id is null then return null; end if;
  return (
    select json_build_object('claim', largesse.claim_json(v_claim, v_activity.code)::json,
             'activity', json_build_object('code', v_activity.code, 'name', v_activity.name, 'kind', v_activity.kind, 'status', v_activity.status),
             'items', coalesce(json_agg(i.item order by i.at, i.place, i.n) filter (where i.n <= i_limit), '[]'), 'isCut', count(*) > i_limit)::text
      from (select t.at, t.place, row_number() over (order by t.at, t.place) as n,
                   json_strip_nulls(json_build_object('at', largesse.time_text(t.at), 'what', t.what, 'by', t.actor, 'text', t.body, 'detail', jsonb_strip_nulls(t.detail))) as item
              from (select 'claim' as what, c.at, c.place, null::text as actor, c.body, c.detail from largesse.claim_trail_of_row(v_claim) c
                    union all
                    select 'queue', q.queued_at, -1, null, 'the click was queued', '{}' from largesse.claim_queue q where q.activity_id = i_activity_id and q.biz_id = v_claim.biz_id
                    union all
                    select 'call', a.started_at, 1, null, format('%s was asked to %s: %s', a.provider, a.step, a.outcome),
                           jsonb_build_object('provider', a.provider, 'step', a.step, 'outcome', a.outcome, 'attempt', a.attempt, 'call', a.call, 'httpStatus', a.http_status, 'code', a.code,
                                              'detail', a.detail, 'durationMs', round(a.duration_us / 1000.0, 1), 'request', a.request, 'answer', a.answer, 'trace', replace(a.trace::text, '-', ''))
                      from largesse.attempt a where a.activity_id = i_activity_id and a.claim_id = i_claim_id
                    union all
                    select 'callback', b.received_at, 2, null, format('%s called back: %s', b.provider, b.outcome),
                           jsonb_build_object('provider', b.provider, 'eventId', b.event_id, 'requestId', b.request_id, 'action', b.action, 'outcome', b.outcome, 'state', b.state, 'ref', b.ref,
                                              'code', b.code, 'detail', b.detail, 'amount', nullif(b.amount, -1), 'occurredAt', largesse.time_text(b.occurred_at), 'body', b.body)
                      from largesse.callback b where b.activity_id = i_activity_id and b.claim_id = i_claim_id
                    union all
                    select 'letter', d.opened_at, 3, null, format('a dead letter was opened: %s', d.cause),
                           jsonb_build_object('id', d.id::text, 'provider', d.provider, 'cause', d.cause, 'code', d.code, 'detail', d.detail, 'isOpen', d.closed_at is null)
                      from largesse.dead_letter d where d.activity_id = i_activity_id and d.claim_id = i_claim_id
                    union all
                    select 'letter', d.closed_at, 4, d.closed_by, format('its dead letter was closed: %s', d.resolution),
                           jsonb_build_object('id', d.id::text, 'resolution', d.resolution, 'reason', d.close_reason)
                      from largesse.dead_letter d where d.activity_id = i_activity_id and d.claim_id = i_claim_id and d.closed_at is not null
                    union all
                    select 'operation', coalesce(m.at, o.created_at), 3, o.actor, format('%s was ordered: %s', o.kind, coalesce(m.outcome, 'to_do')),
                           jsonb_build_object('operationId', o.id::text, 'kind', o.kind, 'outcome', coalesce(m.outcome, 'to_do'), 'reason', o.reason, 'proof', o.proof)
                      from largesse.operation_item m join largesse.operation o on o.id = m.operation_id where m.activity_id = i_activity_id and m.claim_id = i_claim_id
                    union all
                    select 'points', p.at, 1, p.actor, format('points of its user: %s', p.amount), jsonb_build_object('amount', p.amount, 'balance', p.balance, 'reason', p.reason)
                      from largesse.points_entry p where p.activity_id = i_activity_id and p.claim_id = i_claim_id
                    union all
                    select 'order', u.at, 4, u.actor, u.body, jsonb_build_object('orderId', d.order_id)
                      from (select distinct r.redemption_id from largesse.redemption_rule r where r.activity_id = i_activity_id and r.claim_id = i_claim_id) r
                      join largesse.redemption d on d.id = r.redemption_id
                      cross join lateral (values (d.redeemed_at, d.redeemed_by, 'an order has used it as a coupon: ' || d.order_id),
                                                 (d.released_at, d.released_by, 'the order gave its coupon back: ' || d.order_id)) u(at, actor, body) where u.at is not null
                    union all
                    select 'finding', f.opened_at, 4, null, format('an audit found something: %s', f.kind),
                           jsonb_build_object('key', f.key, 'kind', f.kind, 'severity', f.severity, 'expected', f.expected, 'actual', f.actual, 'state', f.state)
                      from largesse.finding f where f.activity_id = i_activity_id and f.claim_id = i_claim_id
                    union all
                    select 'log', l.at, 5, l.actor, l.action, jsonb_build_object('seq', l.seq::text, 'reason', l.reason) || case when l.detail <> '{}' then jsonb_build_object('asked', l.detail::jsonb) else '{}' end
                      from largesse.operator_log l where l.target = i_activity_id || '-' || i_claim_id) t) i);
end $$;
