-- SPDX-License-Identifier: Apache-2.0
-- Whether a bizId is used again for the same request, or for another one: user, quantity, channel and numbers are the content of a click.
-- Parameters: those of the request that is known, then those of the one that comes. Result: the answer. Locks, errors: none.
create or replace function largesse.request_is_same(
  i_known_user_id bigint, i_known_quantity int, i_known_channel text, i_known_numbers bigint[], i_user_id bigint, i_quantity int, i_channel text, i_numbers bigint[]) returns boolean
language sql immutable
as $$
  select (i_known_user_id, i_known_quantity) = (i_user_id, i_quantity) and i_known_channel is not distinct from i_channel and i_known_numbers is not distinct from i_numbers
$$;
