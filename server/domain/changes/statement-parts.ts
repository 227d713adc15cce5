/**
 * The parts of `recordChange`, for statements that write to tables of several modules. Each part belongs in its own
 * CTE. `vmIds` is a query that returns one column: the VMs that changed.
 */

/**
 * Returns SQL that stores a change for each VM and returns the `key` of each change. The statement must send a
 * notification on `changesChannel` for each key.
 */
export const insertVmChangesSql = (vmIds: string): string =>
  `insert into changes (topic, key) select 'vm', vm_id::text from (${vmIds}) changed (vm_id) returning key`;

/**
 * Returns SQL that stores changes and returns their `topic` and `key`. `changes` is a query that returns the topics and
 * the keys. The statement must send a notification on `changesChannel` for each row.
 */
export const insertChangesSql = (changes: string): string =>
  `insert into changes (topic, key) ${changes} returning topic, key`;

/**
 * Returns SQL that marks the health of each VM as due. `vmIds` must return the VMs sorted, so that transactions do not
 * deadlock.
 */
export const markHealthDueSql = (vmIds: string): string =>
  `insert into health_checks (vm_id, due_at) select vm_id, 'epoch' from (${vmIds}) changed (vm_id)
  on conflict (vm_id) do update set due_at = excluded.due_at`;
