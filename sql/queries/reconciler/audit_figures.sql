-- SPDX-License-Identifier: Apache-2.0
select figure, label, amount from largesse.audit_figures()
