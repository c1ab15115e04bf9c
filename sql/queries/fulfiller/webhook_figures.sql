-- SPDX-License-Identifier: Apache-2.0
select name, waiting, (lag_seconds * 1000)::bigint, is_disabled from largesse.webhook_figures()
