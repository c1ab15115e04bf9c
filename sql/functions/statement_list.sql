-- SPDX-License-Identifier: Apache-2.0
-- Reading statements and their lines. Locks, errors: none.

-- A statement as lists and answers show it. Parameters: i_statement. Result: JSON.
create or replace function largesse.statement_json(i_statement largesse.statement) returns json
language sql stable
as $$
  select json_strip_nulls(json_build_object(
    'statementId', i_statement.id::text, 'provider', i_statement.provider, 'date', to_char(i_statement.business_date, 'YYYY-MM-DD'),
    'timeZone', i_statement.time_zone, 'from', largesse.time_text(i_statement.from_at), 'until', largesse.time_text(i_statement.until_at),
    'state', i_statement.state, 'supersededBy', i_statement.superseded_by::text, 'file', i_statement.file, 'bytes', i_statement.bytes,
    'sha256', encode(i_statement.checksum, 'hex'), 'lines', i_statement.lines,
    'clean', coalesce((i_statement.counts ->> 'findings')::bigint, 0) = 0,
    'findings', coalesce((i_statement.counts ->> 'findings')::bigint, 0),
    'findingsRecorded', coalesce((i_statement.counts ->> 'recorded')::bigint, (i_statement.counts ->> 'findings')::bigint, 0),
    'unrelated', case when i_statement.state = 'active' and largesse.statement_is_unrelated(i_statement) then true end,
    'counts', i_statement.counts - 'findings' - 'recorded',
    'importedAt', largesse.time_text(i_statement.imported_at), 'importedBy', i_statement.imported_by, 'matchedAt', largesse.time_text(i_statement.matched_at)))
$$;

-- Parameters: i_provider (null: any), i_after: the last id seen (null: the newest), i_limit. Result: id and JSON text per statement, the newest first.
create or replace function largesse.statement_list(i_provider text, i_after bigint, i_limit int)
returns table (id bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select s.id, largesse.statement_json(s)::text from largesse.statement s
   where s.business_date is not null and (i_after is null or s.id < i_after) and (i_provider is null or s.provider = i_provider)
   order by s.id desc limit i_limit
$$;

-- Parameters: i_id. Result: JSON text; no row if there is no such statement.
create or replace function largesse.statement_show(i_id bigint)
returns table (doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$ select largesse.statement_json(s)::text from largesse.statement s where s.id = i_id and s.business_date is not null $$;

-- Lines, and what a statement lacks: movements of ours without a line come behind the lines. Parameters: i_statement_id, i_outcome (null: all; 'finding': what is a
-- finding), i_after: the last place seen (0: the first), i_limit. Result: place and JSON text. The places of what it lacks are beyond all lines.
create or replace function largesse.statement_lines(i_statement_id bigint, i_outcome text, i_after bigint, i_limit int)
returns table (place bigint, doc text)
language sql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
  select u.place, u.doc
    from ((select l.line as place,
                  json_strip_nulls(json_build_object('line', l.line, 'outcome', l.outcome, 'kind', l.kind, 'status', l.status, 'requestId', nullif(l.request_id, ''),
                    'claimId', l.activity_id || '-' || l.claim_id, 'foundBy', l.found_by, 'userId', nullif(l.user_id, ''), 'amount', l.amount, 'currency', l.currency,
                    'at', largesse.time_text(l.at), 'ref', nullif(l.ref, ''), 'expected', l.expected, 'actual', l.actual, 'findingKey', l.finding_key))::text as doc
             from largesse.statement_line l
            where l.statement_id = i_statement_id and l.line > i_after
              and case when i_outcome is null then true when i_outcome = 'finding' then l.outcome not in ('matched', 'ignored', 'not_yet_due') else l.outcome = i_outcome end
            order by l.line limit i_limit)
          union all
          (select i.place, i.doc
             from (select 1000000000000 + row_number() over (order by i.activity_id, i.claim_id, i.kind) as place,
                          json_strip_nulls(json_build_object('outcome', case i.state when 'missing' then 'missing_at_provider' else 'not_yet_due' end, 'kind', i.kind,
                            'claimId', i.activity_id || '-' || i.claim_id, 'amount', i.amount, 'currency', i.currency, 'at', largesse.time_text(i.at),
                            'dueAt', largesse.time_text(i.due_at), 'findingKey', i.finding_key))::text as doc
                     from largesse.statement_item i
                    where i.statement_id = i_statement_id
                      and case when i_outcome is null then true when i_outcome = 'finding' then i.state = 'missing'
                               when i_outcome = 'missing_at_provider' then i.state = 'missing' when i_outcome = 'not_yet_due' then i.state = 'in_flight' else false end) i
            where i.place > i_after order by i.place limit i_limit)) u
   order by u.place limit i_limit
$$;
