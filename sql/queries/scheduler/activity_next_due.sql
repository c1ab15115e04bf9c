-- SPDX-License-Identifier: Apache-2.0
select due_in_us, at from largesse.activity_next_due()
