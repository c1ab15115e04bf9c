-- SPDX-License-Identifier: Apache-2.0
select kind, n from largesse.retention_step($1::bigint * interval '1 us', $2::bigint * interval '1 us', $3::int)
