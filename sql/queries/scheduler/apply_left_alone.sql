-- SPDX-License-Identifier: Apache-2.0
select a.code, a.status from largesse.activity a
 where a.event_code = $1::text and a.status <> 'archived' and not a.code = any ($2::text[])
 order by a.start_at, a.code
