-- SPDX-License-Identifier: Apache-2.0
select pg_has_role(current_user, c.relowner, 'usage') from pg_class c where c.oid = 'largesse.claim'::regclass
