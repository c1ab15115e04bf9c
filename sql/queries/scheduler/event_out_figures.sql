-- SPDX-License-Identifier: Apache-2.0
select (lag_seconds * 1000)::bigint, parked from largesse.event_out_figures()
