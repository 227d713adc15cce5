import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { DeclaredVm } from '../declared-vm.ts';
import type { MemberChange } from './change.ts';

/** Who changed an extension since a change was prepared. */
export interface ChangedBy {
  by: string;
  at: Date;
}

/**
 * Returns who changed one of the extensions that a change names since they had the given sequence numbers; `unknown` if
 * the extension is not declared any more; null if they still have them. A removed extension still has the last sequence number of
 * its name.
 */
export function changedSince({ present, next }: DeclaredVm, change: MemberChange): ChangedBy | 'unknown' | null {
  if (change.kind === 'patch') return null;
  for (const { name, sequenceNumber } of change.extensions) {
    const row = present.find((each) => each.name === name);
    const current = row?.sequenceNumber ?? (next.get(name) ?? 1) - 1;
    if (current === sequenceNumber) continue;
    return row ? { by: row.changedBy, at: row.changedAt } : 'unknown';
  }
  return null;
}

/** Whether a change applies only if a goal state was not delivered, and it was. */
export const wasDelivered = ({ head }: DeclaredVm, change: MemberChange): boolean =>
  change.kind === 'restore' && change.undelivered !== undefined && head.deliveredIncarnation >= change.undelivered;

/** Returns who published the current goal state of each VM, and when. */
export async function lastPublishers(tx: Transaction, vmIds: readonly string[]): Promise<Map<string, ChangedBy>> {
  if (vmIds.length === 0) return new Map();
  const { rows } = await tx.execute<{ vm_id: string; by: string; at: string }>(sql`
    select g.vm_id, g.published_by as by, g.published_at as at
      from goal_state_heads h join goal_states g on g.vm_id = h.vm_id and g.incarnation = h.incarnation
     where h.vm_id = any(${sql.param(vmIds)}::uuid[])`);
  return new Map(rows.map(({ vm_id, by, at }) => [vm_id, { by, at: new Date(at) }]));
}
