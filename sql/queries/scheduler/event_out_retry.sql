-- SPDX-License-Identifier: Apache-2.0
select largesse.event_out_retry($1::bigint[], $2::text)
