-- SPDX-License-Identifier: Apache-2.0
select outcome, provider, payment_provider, report from largesse.activity_warm_up($1::text)
