-- SPDX-License-Identifier: Apache-2.0
-- Made anew with more columns by their files.
drop function if exists largesse.activity_cache(timestamptz);
drop function if exists largesse.activity_cache_find(text[]);
