-- SPDX-License-Identifier: Apache-2.0
select doc, findings, failed, is_unchanged from largesse.night_finish($1::date, $2::bigint, $3::bigint)
