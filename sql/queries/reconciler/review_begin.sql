-- SPDX-License-Identifier: Apache-2.0
select activity_id, from_at, width, buckets from largesse.review_begin($1::text, $2::text)
