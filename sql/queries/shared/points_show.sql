-- SPDX-License-Identifier: Apache-2.0
select balance, id, doc from largesse.points_show($1::bigint, $2::bigint, $3::int)
