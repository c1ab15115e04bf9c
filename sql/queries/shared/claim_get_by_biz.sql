-- SPDX-License-Identifier: Apache-2.0
-- The queue is read first: what leaves it meanwhile is a claim by then.
select largesse.claim_get_by_biz($1::text, $2::text), q.verdict, q.detail, q.request
  from (select) one left join largesse.claim_queue_show($1::text, $2::text) q on true
