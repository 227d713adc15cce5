import { randomUUID } from 'node:crypto';
import type { ChainFault } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import type { Services } from '#server/domain/context.ts';
import { withDigests } from './accepted-faults.ts';
import { readHead } from './chain.ts';
import { type KeptHead, writeKeptHead } from './kept-head.ts';
import { recordAudit } from './record-audit.ts';
import { verifyActivity } from './verify-activity.ts';

/** Maximum number of faults that can be accepted. A database with more faults should be restored from a backup. */
const maxFaultCount = 1_000;

/**
 * Accepts the activity log as it is, for example after a restore: existing faults no longer count, and the current head
 * becomes the kept head. Adds an entry with the reason. Returns the existing faults. Does nothing if there are no
 * faults and a kept head exists. Throws if there are more than 1,000 faults. Called only by a command on the machine
 * that has DATA_DIR and the key.
 */
export async function acceptActivity(
  services: Pick<Services, 'db' | 'keys' | 'config'>,
  kept: KeptHead | null,
  { reason, person, now }: { reason: string; person: string; now: Date },
): Promise<ChainFault[]> {
  const { faults } = await verifyActivity(services, kept);
  if (faults.length === 0 && kept !== null) return [];
  if (faults.length > maxFaultCount) {
    throw new Error(
      `There are ${faults.length} faults; up to ${maxFaultCount} can be accepted. Restore a backup of the database.`,
    );
  }
  const ctx = {
    keys: services.keys,
    actor: { ...systemActor, name: person },
    origin: { door: 'cli' as const, address: null, client: null },
    now,
    requestId: randomUUID(),
  };
  await services.db.transaction((tx) =>
    recordAudit(tx, ctx, {
      action: 'activity.accept',
      target: { kind: 'activity', id: 'activity' },
      details: { reason, count: faults.length, faults: faults.slice(0, 20) },
      before: kept && { position: kept.position, hash: kept.hash },
    }),
  );
  const head = await readHead(services.db);
  const at = now.toISOString();
  const begun = { position: head?.position ?? 0, hash: head?.hash ?? '', at, accepted: { at, faults: [] } };
  // Only faults of rows are accepted permanently; a truncated chain remains a fault.
  const remaining = (await verifyActivity(services, begun)).faults.filter(({ kind }) => kind !== 'truncated');
  await writeKeptHead(services, { ...begun, accepted: { at, faults: await withDigests(services, remaining) } });
  return faults;
}
