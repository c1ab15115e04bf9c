-- SPDX-License-Identifier: Apache-2.0
select seq, hash, newest from largesse.log_head()
