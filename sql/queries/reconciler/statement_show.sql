-- SPDX-License-Identifier: Apache-2.0
select doc from largesse.statement_show($1::bigint)
