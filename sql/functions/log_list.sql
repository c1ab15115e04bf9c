-- SPDX-License-Identifier: Apache-2.0
-- Reading the operator log.

-- Acts, newest first. Parameters: i_actor, i_target (null: any); i_action: an action (activity.publish) or all of a noun (activity), null: any; i_since inclusive,
-- i_until exclusive (null: open); i_before: the last number seen (null to begin); i_limit. Result: number and JSON text. Locks: none. Errors: none.
create or replace function largesse.log_list(i_actor text, i_action text, i_target text, i_since timestamptz, i_until timestamptz, i_before bigint, i_limit int)
returns table (seq bigint, doc text)
language plpgsql stable security definer
set search_path = largesse, pg_temp set jit = off
as $$
begin
  -- Each filter that is there is a condition of its own, so that the index that fits it best is taken.
  return query execute
    $q$select l.seq, (json_build_object('seq', l.seq::text, 'at', largesse.time_text(l.at), 'actor', l.actor, 'action', l.action, 'target', l.target, 'reason', l.reason,
                                       'detail', l.detail::json, 'hash', encode(l.hash, 'hex')))::text
       from largesse.operator_log l where true$q$
    || case when i_actor is not null then ' and l.actor = $1' else '' end
    || case when i_action is not null then $q$ and (l.action = $2 or split_part(l.action, '.', 1) = $2)$q$ else '' end
    || case when i_target is not null then ' and l.target = $3' else '' end
    || case when i_since is not null then ' and l.at >= $4' else '' end
    || case when i_until is not null then ' and l.at < $5' else '' end
    || case when i_before is not null then ' and l.seq < $6' else '' end
    || ' order by l.seq desc limit $7'
    using i_actor, i_action, i_target, i_since, i_until, i_before, i_limit;
end $$;
