-- SPDX-License-Identifier: Apache-2.0
select figure, provider, amount from largesse.delivery_figures()
