-- SPDX-License-Identifier: Apache-2.0
select letter_id from largesse.dead_letter_of_claims($1::bigint[], $2::bigint[])
