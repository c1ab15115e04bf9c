-- SPDX-License-Identifier: Apache-2.0
select largesse.claim_queue_purge($1::int)
