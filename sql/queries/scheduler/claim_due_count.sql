-- SPDX-License-Identifier: Apache-2.0
select largesse.claim_due_count($1::int)
