-- SPDX-License-Identifier: Apache-2.0
select doc::text as doc, version from largesse.activity_json($1::text)
