import { count, eq, isNotNull } from 'drizzle-orm';
import { auditEntries, type ChainFault } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { type ChainHead, endWalk, walkOn, walkStart } from './chain.ts';

/** What a check of the whole activity found. */
export interface Verdict {
  /** Rows of the chain that are there. */
  linked: number;
  unlinked: number;
  head: Pick<ChainHead, 'position' | 'hash'> | null;
  /** In the order of the chain; empty: none was altered, removed, added or moved. */
  faults: ChainFault[];
}

/** Recomputes every link from the first row to the last. A million rows take about a minute. */
export async function verifyActivity(services: Pick<Services, 'db' | 'keys'>): Promise<Verdict> {
  const faults: ChainFault[] = [];
  let walk = walkStart;
  for (let done = false; !done; ) {
    const step = await walkOn(services, walk, 2_000);
    faults.push(...step.faults);
    ({ walk, done } = step);
  }
  const end = await endWalk(services, walk);
  const [there] = await services.db
    .select({ linked: count() })
    .from(auditEntries)
    .where(isNotNull(auditEntries.position));
  return {
    linked: there?.linked ?? 0,
    unlinked: end.unlinked,
    head: end.head ? { position: end.head.position, hash: end.head.hash } : null,
    faults: [...faults, ...end.faults],
  };
}

/** Where in the chain an anchor stands that was kept elsewhere; null where the chain does not hold it any more. */
export async function findAnchor({ db }: Pick<Services, 'db'>, anchor: string): Promise<number | null> {
  const hash = anchor.trim().toLowerCase().split(':').at(-1) ?? '';
  if (!/^[0-9a-f]{64}$/.test(hash)) return null;
  const [row] = await db
    .select({ position: auditEntries.position })
    .from(auditEntries)
    .where(eq(auditEntries.hash, hash))
    .limit(1);
  return row?.position ?? null;
}
