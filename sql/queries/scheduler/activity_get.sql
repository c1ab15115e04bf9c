-- SPDX-License-Identifier: Apache-2.0
select doc::text, version from largesse.activity_json($1::text)
