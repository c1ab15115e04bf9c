-- SPDX-License-Identifier: Apache-2.0
-- Durations as configuration spells them: an integer and a unit. A day is 24 hours here, whatever the calendar says.

-- Parameters: i_text such as 15m, 90s, 250ms (checked by the caller). Result: the interval; null for null or another text. Locks, errors: none.
create or replace function largesse.span_interval(i_text text) returns interval
language sql immutable strict parallel safe
as $$
  select n::bigint * case unit when 'us' then interval '1 microsecond' when 'ms' then interval '1 millisecond' when 's' then interval '1 second'
                               when 'm' then interval '1 minute' when 'h' then interval '1 hour' when 'd' then interval '24 hours' end
    from regexp_matches(i_text, '^([0-9]{1,15})(us|ms|s|m|h|d)$') r(parts) cross join lateral (select parts[1], parts[2]) p(n, unit)
$$;

-- Parameters: i_span, not negative. Result: its shortest exact form, as span_interval reads it; null for null. Locks, errors: none.
create or replace function largesse.span_text(i_span interval) returns text
language sql immutable strict parallel safe
as $$
  select case when us % 86400000000 = 0 and us > 0 then us / 86400000000 || 'd' when us % 3600000000 = 0 and us > 0 then us / 3600000000 || 'h'
              when us % 60000000 = 0 and us > 0 then us / 60000000 || 'm' when us % 1000000 = 0 then us / 1000000 || 's'
              when us % 1000 = 0 then us / 1000 || 'ms' else us || 'us' end
    from (select (extract(epoch from i_span) * 1000000)::bigint as us) s
$$;
