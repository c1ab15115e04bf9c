-- SPDX-License-Identifier: Apache-2.0
select doc from largesse.now($1::int)
