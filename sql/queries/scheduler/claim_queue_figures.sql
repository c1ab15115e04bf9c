-- SPDX-License-Identifier: Apache-2.0
select waiting, oldest_ms from largesse.claim_queue_figures()
