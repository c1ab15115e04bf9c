-- SPDX-License-Identifier: Apache-2.0
select outcome, detail, total, remaining,
       case when outcome in ('ok', 'replayed') then format('{"total":%s,"remaining":%s}', total, remaining) end as doc,
       case when outcome not in ('ok', 'replayed') then '"remaining":' || remaining end as extra
  from largesse.stock_adjust($1::text, $2::text, $3::bigint, $4::text, $5::text)
