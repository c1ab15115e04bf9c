-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, activity_id, month, at, state_hash from largesse.archive_begin($1::text)
