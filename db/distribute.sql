-- Distributes an Annex database over a Citus cluster (12.1 or newer), so that the rows of a VM are on one node. Run it
-- once on the coordinator as the owner of the tables, after the migrations and before the fleet is large, while no
-- Annex process is running: psql -1 -f db/distribute.sql "$DATABASE_URL". docs/scale.md explains the purpose and what
-- is missing. db/distribute.test.ts checks the schema and the statements against the rules of Citus. This script has
-- never run on a real cluster.

do $$ begin
  if not exists (select from pg_extension where extname = 'citus') then
    raise exception 'This database has no Citus: create extension citus on all nodes first.';
  end if;
end $$;

-- Replicated to every node: tables that are small, rarely written, or unique by something other than the VM. VM names
-- are unique. Agents have unique keys and are found by their credential. Tokens are found by their hash.
select create_reference_table('publishers');
select create_reference_table('handlers');
select create_reference_table('handler_versions');
select create_reference_table('resources');
select create_reference_table('reported_messages');
select create_reference_table('vms');
select create_reference_table('agents');
select create_reference_table('enrollment_tokens');
select create_reference_table('execution_channels');
select create_reference_table('runbook_files');
select create_reference_table('runbook_file_revisions');

-- A unique key must contain the distribution column.
alter table health_transitions drop constraint health_transitions_pkey, add primary key (vm_id, id);

-- Steps of rollouts refer to rollouts, and every process reads their rings and members.
select create_reference_table('rollouts');
select create_reference_table('rollout_rings');
select create_reference_table('rollout_members');
select create_reference_table('rollout_curve');

-- Reservations of one disruption group are by VMs on several nodes, and their places are unique within the group.
select create_reference_table('group_reservations');

-- A model's machines share cloud services and addresses, which are unique in the whole portal.
select create_reference_table('storage_accounts');
select create_reference_table('storage_objects');
select create_reference_table('models');
select create_reference_table('affinity_groups');
select create_reference_table('networks');
select create_reference_table('cloud_services');
select create_reference_table('deployments');
select create_reference_table('availability_sets');
select create_reference_table('vm_roles');
select create_reference_table('endpoints');
select create_reference_table('endpoint_traffic');

-- Services and their relations join units on VMs of several nodes. Names and numbers are unique within a model.
select create_reference_table('services');
select create_reference_table('service_settings');
select create_reference_table('unit_counters');
select create_reference_table('units');
select create_reference_table('unit_ports');
select create_reference_table('relations');
select create_reference_table('relation_endpoints');
select create_reference_table('relation_units');
select create_reference_table('relation_log');
select create_reference_table('relation_seen');

-- Executions of one plan on different VMs share a row.
select create_reference_table('execution_plans');

-- The new index contains the distribution column, so the ID of a plan is unique only within a VM.
drop index executions_plan;
create unique index executions_plan on executions (vm_id, plan_id);

-- Distributed by VM and colocated, so that a transaction about one VM runs on one node.
select create_distributed_table('goal_state_heads', 'vm_id');
select create_distributed_table('goal_states', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('secrets', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('extensions', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('extension_sequences', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('agent_presence', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('agent_problems', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('agent_refusals', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('pending_restarts', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('holds', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('retry_series', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('executions', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('execution_calls', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('execution_files', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('execution_stamps', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('lane_times', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('execution_messages', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('stock_agents', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('extension_latest', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('extension_pulse', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('report_history', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('command_outputs', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('output_pieces', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('log_archives', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('health_checks', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('vm_health', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('extension_health', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('health_transitions', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('vm_concerns', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('unit_heads', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('hook_runs', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('rollout_steps', 'vm_id', colocate_with => 'goal_state_heads');
