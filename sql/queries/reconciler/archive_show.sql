-- SPDX-License-Identifier: Apache-2.0
select code, path, sha256, is_there from largesse.archive_show($1::bigint)
