-- SPDX-License-Identifier: Apache-2.0
select provider, doc from largesse.provider_list($1::text)
