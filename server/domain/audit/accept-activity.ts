import { randomUUID } from 'node:crypto';
import type { ChainFault } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import type { Services } from '#server/domain/context.ts';
import { withDigests } from './accepted-faults.ts';
import { readHead } from './chain.ts';
import { type KeptHead, writeKeptHead } from './kept-head.ts';
import { recordAudit } from './record-audit.ts';
import { verifyActivity } from './verify-activity.ts';

/** Faults that may be accepted one by one; a database with more of them is restored instead. */
const mostFaults = 1_000;

/**
 * Accepts the activity as it is, after a restore for example: what is wrong with it counts no longer, and the kept head
 * is its present end. Only for a command on the machine that has DATA_DIR and the key. Itself an act, with the reason.
 * Gives the faults; none means that nothing had to be accepted.
 */
export async function acceptActivity(
  services: Pick<Services, 'db' | 'keys' | 'config'>,
  kept: KeptHead | null,
  { reason, person, now }: { reason: string; person: string; now: Date },
): Promise<ChainFault[]> {
  const { faults } = await verifyActivity(services, kept);
  if (faults.length === 0 && kept !== null) return [];
  if (faults.length > mostFaults) {
    throw new Error(
      `There are ${faults.length} faults; up to ${mostFaults} can be accepted. Restore a backup of the database.`,
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
  // Only what remains wrong with rows is accepted for good: a shorter chain is never right again.
  const remaining = (await verifyActivity(services, begun)).faults.filter(({ kind }) => kind !== 'truncated');
  await writeKeptHead(services, { ...begun, accepted: { at, faults: await withDigests(services, remaining) } });
  return faults;
}
