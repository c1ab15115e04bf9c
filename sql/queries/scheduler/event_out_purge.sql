-- SPDX-License-Identifier: Apache-2.0
select largesse.event_out_purge($1::interval)
