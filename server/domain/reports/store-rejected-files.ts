import { isDeepStrictEqual } from 'node:util';
import { and, eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { extensionLatest, extensionPulse, extensions, type RefusedFile } from '#db/schema/index.ts';
import { storeLatest } from '#server/domain/reported-state/index.ts';
import { readAt } from './entries/file-reading.ts';
import type { RejectedEntry } from './entries/reading.ts';

/**
 * Stores the faults of rejected files. Skips files of unknown extensions, and files whose sequence number is not the
 * goal's. Returns whether users see a difference.
 */
export async function storeRejectedFiles(
  tx: Transaction,
  vmId: string,
  refused: readonly RejectedEntry[],
  receivedAt: Date,
): Promise<boolean> {
  let isVisible = false;
  for (const entry of refused) {
    const { kind, name, sequenceNumber, faults } = entry;
    const known = await load(tx, vmId, name);
    if (known === null || (sequenceNumber !== null && sequenceNumber !== known.goal)) continue;
    const next: RefusedFile = { sequenceNumber, readAt: readAt(entry, receivedAt).toISOString(), faults };
    const before = openRejection(known, kind);
    isVisible ||= before === null || !isDeepStrictEqual({ ...before, readAt: next.readAt }, next);
    const column = kind === 'status' ? { statusRefused: next } : { heartbeatRefused: next };
    await storeLatest(tx, vmId, name, column);
  }
  return isVisible;
}

async function load(tx: Transaction, vmId: string, name: string) {
  const [row] = await tx
    .select({
      goal: extensions.sequenceNumber,
      statusReadAt: extensionPulse.statusReadAt,
      heartbeatReadAt: extensionPulse.heartbeatReadAt,
      statusRefused: extensionLatest.statusRefused,
      heartbeatRefused: extensionLatest.heartbeatRefused,
    })
    .from(extensions)
    .leftJoin(extensionPulse, and(eq(extensionPulse.vmId, extensions.vmId), eq(extensionPulse.name, extensions.name)))
    .leftJoin(
      extensionLatest,
      and(eq(extensionLatest.vmId, extensions.vmId), eq(extensionLatest.name, extensions.name)),
    )
    .where(and(eq(extensions.vmId, vmId), eq(extensions.name, name)))
    .for('key share', { of: extensions });
  return row ?? null;
}

interface Refusals {
  goal: number;
  statusReadAt: Date | null;
  heartbeatReadAt: Date | null;
  statusRefused: RefusedFile | null;
  heartbeatRefused: RefusedFile | null;
}

/**
 * Returns the rejected file if it is still relevant: it has no sequence number or the goal's, and no valid file has
 * been read since.
 */
export function openRejection(facts: Refusals, kind: RejectedEntry['kind']): RefusedFile | null {
  const [refused, goodAt] =
    kind === 'status' ? [facts.statusRefused, facts.statusReadAt] : [facts.heartbeatRefused, facts.heartbeatReadAt];
  if (refused === null || (refused.sequenceNumber !== null && refused.sequenceNumber !== facts.goal)) return null;
  return goodAt !== null && goodAt >= new Date(refused.readAt) ? null : refused;
}
