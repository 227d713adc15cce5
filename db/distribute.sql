-- Spreads an Annex database over a Citus cluster (12.1 or newer): what belongs to one VM lies together on one node.
-- Run once on the coordinator, after the migrations and before the fleet is large, as the owner of the tables, while no
-- process of Annex runs: psql -1 -f db/distribute.sql "$DATABASE_URL". docs/scale.md says what it is for, and what it
-- does not do yet. db/distribute.test.ts holds schema and statements to the rules of Citus; it was never run on one.

do $$ begin
  if not exists (select from pg_extension where extname = 'citus') then
    raise exception 'This database has no Citus: create extension citus on all nodes first.';
  end if;
end $$;

-- On every node in full: small, or rarely written, or unique in something else than the VM. VMs have unique names;
-- agents have unique keys and are found by their credential, tokens by their hash.
select create_reference_table('publishers');
select create_reference_table('handlers');
select create_reference_table('handler_versions');
select create_reference_table('resources');
select create_reference_table('reported_messages');
select create_reference_table('vms');
select create_reference_table('agents');
select create_reference_table('enrollment_tokens');

-- A unique key must hold the column by which a table is spread.
alter table health_transitions drop constraint health_transitions_pkey, add primary key (vm_id, id);

-- By VM, and all alike, so that one transaction about one VM is a transaction of one node.
select create_distributed_table('goal_state_heads', 'vm_id');
select create_distributed_table('goal_states', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('secrets', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('extensions', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('extension_sequences', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('agent_presence', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('agent_problems', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('agent_refusals', 'vm_id', colocate_with => 'goal_state_heads');
select create_distributed_table('pending_restarts', 'vm_id', colocate_with => 'goal_state_heads');
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
