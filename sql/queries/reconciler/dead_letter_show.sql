-- SPDX-License-Identifier: Apache-2.0
select doc from largesse.dead_letter_show($1::bigint)
