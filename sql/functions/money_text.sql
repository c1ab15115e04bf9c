-- SPDX-License-Identifier: Apache-2.0
-- Money for people: minor units with the decimal places of ISO 4217, as common/money.c has them.

-- Parameters: i_currency. Result: its decimal places; 0 where it is no currency code. Locks, errors: none.
create or replace function largesse.money_exponent(i_currency text) returns int
language sql immutable parallel safe
as $$
  select case when i_currency !~ '^[A-Z]{3}$' then 0
              when i_currency in ('BIF', 'CLP', 'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'UYI', 'VND', 'VUV', 'XAF', 'XOF', 'XPF') then 0
              when i_currency in ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') then 3
              when i_currency in ('CLF', 'UYW') then 4
              else 2 end
$$;

-- Parameters: i_amount in minor units, i_currency (null: none is known). Result: "5.00 USD", "500 JPY", "0.500 KWD"; null without an amount. Locks, errors: none.
create or replace function largesse.money_text(i_amount bigint, i_currency text) returns text
language sql immutable parallel safe
as $$
  select case when e.exponent = 0 then i_amount::text
              else round(i_amount / power(10::numeric, e.exponent), e.exponent)::text end || coalesce(' ' || nullif(i_currency, ''), '')
    from (select largesse.money_exponent(coalesce(i_currency, '')) as exponent) e
$$;
