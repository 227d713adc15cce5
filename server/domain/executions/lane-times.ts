import { and, eq, isNull, ne, or, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensionPulse, extensions, type LaneTime, laneTimes } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';

/** Maximum number of past periods kept per VM. Older periods no longer extend deadlines. */
const maxPast = 200;

/** Notes that an execution holds the lane of a VM, which pauses the deadlines of the VM's extensions (MU-73). */
export async function noteLaneTaken(tx: Transaction, vmId: string, takenAt: Date): Promise<void> {
  await tx
    .insert(laneTimes)
    .values({ vmId, takenAt })
    .onConflictDoUpdate({
      target: laneTimes.vmId,
      set: { takenAt: sql`coalesce(${laneTimes.takenAt}, excluded.taken_at)` },
    });
  await recordChange(tx, 'vm', vmId);
}

/** Notes that an execution no longer holds the lane of a VM. */
export async function noteLaneFree(tx: Transaction, { now }: Pick<Context, 'now'>, vmId: string): Promise<void> {
  const [row] = await tx.select().from(laneTimes).where(eq(laneTimes.vmId, vmId)).for('update');
  if (!row?.takenAt) return;
  const ended: LaneTime = [row.takenAt.toISOString(), now.toISOString()];
  const oldest = await oldestOpenGoal(tx, vmId);
  const past = [...row.past, ended].filter(([, to]) => oldest !== null && new Date(to) > oldest).slice(-maxPast);
  await tx.update(laneTimes).set({ takenAt: null, past }).where(eq(laneTimes.vmId, vmId));
  await recordChange(tx, 'vm', vmId);
}

/** Removes the lane times of a deleted VM. */
export async function dropLaneTimes(tx: Transaction, vmId: string): Promise<void> {
  await tx.delete(laneTimes).where(eq(laneTimes.vmId, vmId));
}

/** Returns when the oldest goal that has not concluded was delivered or declared; null if all goals have concluded. */
async function oldestOpenGoal(tx: Transaction, vmId: string): Promise<Date | null> {
  const begun = sql<Date | null>`min(coalesce(${extensions.deliveredAt}, ${extensions.changedAt}))`;
  const [row] = await tx
    .select({ begun: begun.mapWith(extensions.changedAt) })
    .from(extensions)
    .leftJoin(extensionPulse, and(eq(extensionPulse.vmId, extensions.vmId), eq(extensionPulse.name, extensions.name)))
    .where(
      and(
        eq(extensions.vmId, vmId),
        or(
          isNull(extensionPulse.concludedAt),
          isNull(extensionPulse.statusSequence),
          ne(extensionPulse.statusSequence, extensions.sequenceNumber),
        ),
      ),
    );
  return row?.begun ?? null;
}
