-- SPDX-License-Identifier: Apache-2.0
-- Takes the test clock out of a private stack again; sql/functions/clock_now.sql is applied right before.
drop function if exists largesse.clock_set(interval);
drop table if exists largesse.test_clock;
