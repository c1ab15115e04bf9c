-- SPDX-License-Identifier: Apache-2.0
-- What people look at stays quick with a hundred thousand findings and letters.

-- The most severe first, page by page.
create index finding_by_severity on largesse.finding ((case severity when 'critical' then 1 when 'high' then 2 else 3 end), key) where state <> 'gone';

-- How many items of a preview are told is a parameter now.
drop function if exists largesse.operation_preview(text, bigint[], bigint[], bigint[], text, text, text, text, boolean, text[], text, text, text, text);
