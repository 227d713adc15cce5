import { eq, getTableColumns, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agentPresence, extensionHealth, extensions, vmHealth, vms } from '#db/schema/index.ts';
import { storedConcerns, type VmConcernRow } from './concerns.ts';
import { type ExtensionFacts, selectExtensions } from './derive.ts';
import type { PresenceFacts } from './next-ageing.ts';

export type VmHealthRow = Omit<typeof vmHealth.$inferSelect, 'writtenBy'>;
export type ExtensionHealthRow = typeof extensionHealth.$inferSelect;

/** The facts of a VM and its last derived health. */
export interface VmHealthFacts {
  id: string;
  name: string;
  tags: Record<string, string>;
  deleted: boolean;
  presence: PresenceFacts | null;
  extensions: ExtensionFacts[];
  known: { vm: VmHealthRow | null; extensions: Map<string, ExtensionHealthRow>; concern: VmConcernRow | null };
}

/**
 * Locks the health checks of up to `most` due VMs until the end of the transaction. VMs that were marked as due,
 * because they changed or aged, come first. Other folds skip the locked VMs. A writer that marks a locked VM as due
 * must wait, so the facts do not change.
 */
export async function lockDue(tx: Transaction, now: Date, most: number): Promise<string[]> {
  // Starting parallel workers would take longer than reading a batch.
  await tx.execute(sql`set local max_parallel_workers_per_gather = 0`);
  const { rows } = await tx.execute<{ vm_id: string }>(sql`
    select vm_id from health_checks where due_at <= ${now.toISOString()}
     order by due_at limit ${most} for update skip locked`);
  return rows.map((row) => row.vm_id).sort();
}

/** Loads the facts of these VMs with five queries, regardless of the number of VMs. */
export async function loadVmHealthFacts(tx: Transaction, vmIds: readonly string[]): Promise<VmHealthFacts[]> {
  const among = sql`= any(${sql.param(vmIds)}::uuid[])`;
  const { lastSeenAt, nextExpectedAt, heartbeatSeconds, statusSeconds } = agentPresence;
  const found = await tx
    .select({
      id: vms.id,
      name: vms.name,
      tags: vms.tags,
      deletedAt: vms.deletedAt,
      presence: { lastSeenAt, nextExpectedAt, heartbeatSeconds, statusSeconds },
    })
    .from(vms)
    .leftJoin(agentPresence, eq(agentPresence.vmId, vms.id))
    .where(sql`${vms.id} ${among}`)
    .orderBy(vms.id);
  const loaded = new Map(
    found.map(({ deletedAt, ...row }) => {
      const known: VmHealthFacts['known'] = { vm: null, extensions: new Map(), concern: null };
      return [row.id, { ...row, deleted: deletedAt !== null, extensions: [] as ExtensionFacts[], known }] as const;
    }),
  );
  for (const facts of await selectExtensions(tx, sql`${extensions.vmId} ${among}`)) {
    loaded.get(facts.vmId)?.extensions.push(facts);
  }
  const { writtenBy: _, ...columns } = getTableColumns(vmHealth);
  for (const row of await tx.select(columns).from(vmHealth).where(sql`${vmHealth.vmId} ${among}`)) {
    const vm = loaded.get(row.vmId);
    if (vm) vm.known.vm = row;
  }
  for (const row of await tx.select().from(extensionHealth).where(sql`${extensionHealth.vmId} ${among}`)) {
    loaded.get(row.vmId)?.known.extensions.set(row.name, row);
  }
  for (const [vmId, concern] of await storedConcerns(tx, vmIds)) {
    const vm = loaded.get(vmId);
    if (vm) vm.known.concern = concern;
  }
  return [...loaded.values()];
}
