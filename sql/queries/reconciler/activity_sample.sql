-- SPDX-License-Identifier: Apache-2.0
select largesse.activity_sample()
