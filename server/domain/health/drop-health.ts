import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensionHealth, healthTransitions, vmConcerns, vmHealth } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { addToCounts } from './fleet-counts.ts';

/**
 * Removes a deleted VM from lists. The caller must have recorded a change of the VM, which locks its health check, so
 * that the VM is not evaluated before the commit.
 */
export async function dropHealth(tx: Transaction, vmId: string, now: Date): Promise<void> {
  const { rowCount } = await tx.delete(extensionHealth).where(eq(extensionHealth.vmId, vmId));
  await tx.delete(vmConcerns).where(eq(vmConcerns.vmId, vmId));
  const [was] = await tx.delete(vmHealth).where(eq(vmHealth.vmId, vmId)).returning();
  if (was === undefined) return;
  const added = new Map([
    [was.health as string, -1],
    ['extensions', -(rowCount ?? 0)],
  ]);
  await addToCounts(tx, added);
  await tx.insert(healthTransitions).values({ at: now, vmId, kind: 'health', from: was.health });
  await recordChange(tx, 'fleet', vmId);
}
