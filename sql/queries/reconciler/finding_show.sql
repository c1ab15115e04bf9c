-- SPDX-License-Identifier: Apache-2.0
select doc from largesse.finding_show($1::text)
