-- SPDX-License-Identifier: Apache-2.0
-- Pages of what is imported: free numbers in their order, and a user's points entries.
create index activity_number_free_in_order on largesse.activity_number (activity_id, number) where status = 'available';
create index points_entry_by_user on largesse.points_entry (user_id, id);
