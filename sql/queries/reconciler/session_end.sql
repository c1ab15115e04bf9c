-- SPDX-License-Identifier: Apache-2.0
select largesse.session_end($1::bytea)
