-- SPDX-License-Identifier: Apache-2.0
-- Least rights: each daemon takes on a role that may call its own functions and read what it shows, nothing else. The functions run with the
-- owner's rights and a fixed search_path. Applied after every migration; repeating it changes nothing.
do $$
declare
  v_role text;
begin
  foreach v_role in array array['largesse_scheduler', 'largesse_fulfiller', 'largesse_reconciler', 'largesse_auditor'] loop
    if not exists (select from pg_roles r where r.rolname = v_role) then
      begin
        execute format('create role %I nologin', v_role);
      exception when duplicate_object or unique_violation then null;  -- another database of this cluster was faster
      end;
    end if;
    execute format('grant usage on schema largesse to %I', v_role);
    if not pg_has_role(current_user, v_role, 'member') then
      execute format('grant %I to %I', v_role, current_user);
    end if;
  end loop;
end $$;

-- Whoever runs reconciliations of its own takes on a role that reads the compat views and nothing else.
do $$
begin
  if not exists (select from pg_roles r where r.rolname = 'largesse_compat') then
    begin
      create role largesse_compat nologin;
    exception when duplicate_object or unique_violation then null;  -- as above
    end;
  end if;
end $$;
revoke all on schema compat from public;
grant usage on schema compat to largesse_compat;
grant select on all tables in schema compat to largesse_compat;

revoke all on all tables in schema largesse from largesse_scheduler, largesse_fulfiller, largesse_reconciler, largesse_auditor;
revoke execute on all functions in schema largesse from public;

-- Everybody may read the clock and format instants; none of these touches a row.
grant execute on function largesse.clock_now(), largesse.time_text(timestamptz) to public;

do $$
declare
  v_grant record;
  v_sig   text;
begin
  for v_grant in
    select * from (values
      ('largesse_scheduler', array['claim_submit', 'claim_lookup', 'claim_explain', 'activity_warm_up', 'activity_starting', 'refusal_list', 'claim_enqueue', 'claim_queue_step', 'claim_queue_figures', 'claim_queue_purge', 'claim_queue_show', 'scheduler_seen', 'scheduler_leave', 'claim_sweep', 'claim_get', 'claim_get_by_biz', 'claim_list_by_user',
         'claim_list_by_activity', 'activity_put', 'activity_action', 'activity_advance', 'activity_next_due', 'activity_json', 'activity_list',
         'activity_history_list', 'activity_cache', 'stock_adjust', 'reward_put', 'reward_json', 'event_put', 'local_time', 'event_out_take', 'event_out_done',
         'refusal_add', 'activity_cache_find', 'claim_due_count', 'provider_held', 'partitions_ensure', 'partition_month']),
      ('largesse_fulfiller', array['claim_take', 'claim_settle', 'callback_apply', 'dead_letter_unreadable', 'delivery_figures', 'provider_register', 'provider_poll', 'provider_leave', 'provider_breaker',
         'provider_list', 'provider_history', 'provider_pause', 'provider_resume', 'provider_set']),
      ('largesse_reconciler', array['audit_list', 'audit_definition_list', 'audit_screen', 'audit_keep', 'audit_run', 'audit_begin', 'audit_activities', 'audit_record', 'audit_recorded', 'audit_end', 'audit_runs',
         'audit_figures', 'finding_list', 'finding_show', 'dead_letter_list', 'dead_letter_groups', 'dead_letter_of_claim', 'dead_letter_show',
         'operation_preview', 'operation_begin', 'operation_step', 'operation_show', 'operation_list', 'operation_items', 'operation_cancel',
         'activity_json', 'activity_list', 'claim_get', 'claim_get_by_biz', 'provider_list', 'provider_history', 'provider_pause', 'provider_resume',
         'provider_set']),
      ('largesse_scheduler', array['event_out_postpone', 'event_out_figures', 'event_out_parked', 'event_out_retry', 'event_out_discard', 'event_out_purge']),
      ('largesse_scheduler', array['discount_rule_put', 'discount_rule_json', 'discount_rule_list', 'discount_quote', 'discount_redeem', 'discount_release',
         'redemption_json']),
      ('largesse_scheduler', array['numbers_add', 'numbers_ensure', 'numbers_list', 'numbers_random', 'qualification_import', 'qualification_list', 'points_grant',
         'points_grant_many', 'points_show', 'user_attributes_put', 'user_attributes_get', 'user_progress_put', 'user_progress_list',
         'blocked_user_put', 'blocked_user_delete', 'blocked_user_list']),
      ('largesse_fulfiller', array['webhook_register', 'webhook_name', 'webhook_take', 'webhook_settle', 'webhook_figures', 'webhook_purge', 'webhook_list',
         'webhook_deliveries', 'webhook_switch', 'webhook_replay', 'webhook_ping', 'webhook_delivery']),
      ('largesse_reconciler', array['night_due', 'night_latest', 'night_take', 'night_extend', 'night_prepare', 'night_step', 'night_finish', 'night_list', 'night_show',
         'night_compare', 'review_begin', 'review_part', 'review_end']),
      ('largesse_reconciler', array['now', 'activity_sample', 'dead_letter_sorted']),
      ('largesse_reconciler', array['statement_begin', 'statement_lines_add', 'statement_close', 'statement_reinstate', 'statement_rematch', 'statement_match_open', 'statement_match_failed',
         'statement_list', 'statement_show', 'statement_lines', 'statement_fetch_take', 'statement_fetch_done']),
      ('largesse_reconciler', array['webhook_list', 'webhook_deliveries', 'webhook_switch', 'webhook_replay']),
      ('largesse_reconciler', array['log_list', 'log_head', 'log_rows', 'log_night_fault', 'key_add', 'key_revoke', 'key_list', 'session_begin', 'session_check', 'session_end']),
      ('largesse_scheduler', array['key_poll']), ('largesse_fulfiller', array['key_poll']), ('largesse_reconciler', array['key_poll']),
      ('largesse_reconciler', array['archive_begin', 'archive_tables', 'archive_open', 'archive_confirm', 'archive_show', 'archive_verified', 'archive_candidates',
         'archive_list', 'archive_month_number', 'archive_month_blockers', 'archive_month_files', 'archive_month_state', 'archive_months_away', 'archive_partitions', 'archive_seal',
         'archive_detached', 'archive_attach', 'retention_step']),
      ('largesse_reconciler', array['log_list']),
      ('largesse_scheduler', array['activity_doc_put', 'activity_search', 'reward_doc_put', 'reward_list', 'discount_doc_put']),
      ('largesse_reconciler', array['activity_doc_put', 'activity_search', 'activity_action', 'activity_history_list', 'activity_warm_up', 'stock_adjust', 'reward_doc_put',
         'reward_json', 'reward_list', 'discount_doc_put', 'discount_rule_json', 'discount_rule_list', 'numbers_add', 'numbers_list', 'numbers_random', 'qualification_import',
         'qualification_list', 'blocked_user_put', 'blocked_user_delete', 'blocked_user_list', 'refusal_list', 'claim_explain_doc', 'claim_list_by_activity',
         'claim_list_by_user', 'claim_queue_show', 'claim_trail', 'points_show', 'points_grant_many', 'user_attributes_get', 'user_progress_list']),
      ('largesse_scheduler', array['claim_find', 'claim_cancel', 'claim_accept', 'claim_expire'])
    ) as g(role_name, functions)
  loop
    for v_sig in
      select p.oid::regprocedure::text from pg_proc p
       where p.pronamespace = 'largesse'::regnamespace and p.proname = any (v_grant.functions)
    loop
      execute format('grant execute on function %s to %I', v_sig, v_grant.role_name);
    end loop;
  end loop;
end $$;

-- Audits may read, and nothing else: the two functions that run them have the rights of a role that can only read, and may call what audits are made of.
-- To be given a function a role must be able to create in its schema, for that moment.
grant select on all tables in schema largesse to largesse_auditor;
revoke select on largesse.api_key, largesse.api_key_version, largesse.console_session from largesse_auditor;
grant create on schema largesse to largesse_auditor;
alter function largesse.audit_run(text, bigint) owner to largesse_auditor;
alter function largesse.audit_screen(bigint, boolean) owner to largesse_auditor;
revoke create on schema largesse from largesse_auditor;
do $$
declare
  v_sig text;
begin
  for v_sig in
    select p.oid::regprocedure::text from pg_proc p
     where p.pronamespace = 'largesse'::regnamespace
       and (p.proname in ('archive_is_away', 'audit_stock_of', 'audit_missing_claims', 'audit_has_missing_claims', 'audit_is_reversed', 'audit_numbers_due', 'audit_limits', 'audit_event_limit', 'audit_hash', 'audit_usage_salt', 'audit_keep_from', 'audit_part_bits', 'audit_ask', 'claim_is_open', 'period_start')
            or p.proname in (select 'audit_' || d.name from largesse.audit_definition d where d.source = 'audit'))
  loop
    execute format('grant execute on function %s to largesse_auditor', v_sig);
  end loop;
end $$;
