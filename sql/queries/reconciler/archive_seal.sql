-- SPDX-License-Identifier: Apache-2.0
select outcome, detail from largesse.archive_seal(largesse.archive_month_number($1::text), $2::bigint * interval '1 us', $3::text, $4::text)
