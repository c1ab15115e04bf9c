-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, inserted from largesse.numbers_ensure($1::text, $2::bigint, $3::bigint, $4::text, $5::text)
