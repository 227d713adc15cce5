import { eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { holds } from '#db/schema/index.ts';
import { noPauses, type Pauses, pausesOf } from '#server/domain/verdicts/index.ts';
import { type Hold, holdOf } from './hold.ts';

/** Returns the hold of a VM; null if it is not held. */
export async function readHold(db: Database | Transaction, vmId: string): Promise<Hold | null> {
  const [row] = await db.select().from(holds).where(eq(holds.vmId, vmId));
  return holdOf(row);
}

/** Returns the periods in which the VM is or was on hold. */
export async function readHoldPauses(db: Database | Transaction, vmId: string): Promise<Pauses> {
  const [row] = await db.select().from(holds).where(eq(holds.vmId, vmId));
  return row ? pausesOf({ heldAt: row.since, pastHolds: row.past, laneTakenAt: null, laneTimes: null }) : noPauses;
}
