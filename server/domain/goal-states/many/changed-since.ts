import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { DeclaredVm } from '../declared-vm.ts';
import type { MemberChange } from './change.ts';

/** Who changed an extension since a change was prepared. */
export interface ChangedBy {
  by: string;
  at: Date;
}

/** Who published a goal state, and with which action. */
export interface PublishedBy extends ChangedBy {
  action: string;
}

/**
 * Returns who changed one of the extensions that a change names since they had the given sequence numbers; `unknown` if the extension is no longer declared; null if they still have them. A removed extension still has the last
 * sequence number of its name.
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

/** Returns who published the goal state that each VM had at a time, and when; `unknown` is the current goal state. */
export async function publishersAt(
  tx: Transaction,
  times: ReadonlyMap<string, Date | 'unknown'>,
): Promise<Map<string, PublishedBy>> {
  if (times.size === 0) return new Map();
  const at = [...times.values()].map((time) => (time === 'unknown' ? 'infinity' : time.toISOString()));
  const { rows } = await tx.execute<{ vm_id: string; by: string; action: string; at: string }>(sql`
    select w.vm_id, g.published_by as by, g.cause->>'action' as action, g.published_at as at
      from unnest(${sql.param([...times.keys()])}::uuid[], ${sql.param(at)}::timestamptz[]) as w(vm_id, at)
      cross join lateral (
        select * from goal_states g where g.vm_id = w.vm_id and g.published_at <= w.at
         order by g.incarnation desc limit 1) g`);
  return new Map(rows.map(({ vm_id, by, action, at }) => [vm_id, { by, action, at: new Date(at) }]));
}
