/**
 * The parts of `recordChange` for statements that write tables of several modules, each for a separate `with`.
 * `vmIds` is a query with one column: the VMs that changed.
 */

/** Stores a change of each VM; returns its `key`. The statement notifies `changesChannel` of each key. */
export const insertVmChangesSql = (vmIds: string): string =>
  `insert into changes (topic, key) select 'vm', vm_id::text from (${vmIds}) changed (vm_id) returning key`;

/** Marks the health of each VM as due. `vmIds` is sorted, so that no two transactions wait for each other. */
export const markHealthDueSql = (vmIds: string): string =>
  `insert into health_checks (vm_id, due_at) select vm_id, 'epoch' from (${vmIds}) changed (vm_id)
  on conflict (vm_id) do update set due_at = excluded.due_at`;
