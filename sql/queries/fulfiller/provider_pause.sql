-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, changed, doc from largesse.provider_pause($1::text, $2::timestamptz, $3::bigint * interval '1 microsecond', $4::text, $5::text)
