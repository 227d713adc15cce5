import { count, isNotNull } from 'drizzle-orm';
import { auditEntries, type ChainFault } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { openFaults } from './accepted-faults.ts';
import { type ChainPlace, checkPlaces, endWalk, walkOn, walkStart } from './chain.ts';
import type { KeptHead } from './kept-head.ts';

/** A former head of the chain that was stored elsewhere, and its time. */
export interface Anchor extends ChainPlace {
  at: string | null;
}

/** The result of a check of the whole log. */
export interface Verdict {
  /** Number of rows with a position. */
  numbered: number;
  head: ChainPlace | null;
  /**
   * Faults that were not accepted: first the faults along the chain, in the order of the chain, then faults of the
   * heads, of rows outside the chain, and of anchors.
   */
  faults: ChainFault[];
  /** Number of faults that an administrator accepted. */
  accepted: number;
  /** Number of anchors that are older than an acceptance and not part of the chain. */
  formerAnchors: number;
}

/** Recomputes every link from the first row to the last. Takes about a minute per million rows. */
export async function verifyActivity(
  services: Pick<Services, 'db' | 'keys'>,
  kept: KeptHead | null,
  anchors: readonly Anchor[] = [],
): Promise<Verdict> {
  const all: ChainFault[] = [];
  let walk = walkStart;
  for (let done = false; !done; ) {
    const step = await walkOn(services, walk, 2_000);
    all.push(...step.faults);
    ({ walk, done } = step);
  }
  const end = await endWalk(services, walk, kept);
  const faults = await openFaults(services, [...all, ...end.faults], kept);
  const accepted = all.length + end.faults.length - faults.length;
  const lost = await lostAnchors(services, anchors);
  const former = lost.filter(({ anchor }) => isFormer(anchor, kept));
  for (const { anchor, fault } of lost) {
    const isKnown = faults.some(({ kind, position }) => kind === fault.kind && position === fault.position);
    if (!isKnown && !isFormer(anchor, kept)) faults.push(fault);
  }
  const [there] = await services.db
    .select({ numbered: count() })
    .from(auditEntries)
    .where(isNotNull(auditEntries.position));
  const head = end.head ? { position: end.head.position, hash: end.head.hash } : null;
  return { numbered: there?.numbered ?? 0, head, faults, accepted, formerAnchors: former.length };
}

/** Returns the anchors that are not part of the chain, and why. */
async function lostAnchors(
  { db }: Pick<Services, 'db'>,
  anchors: readonly Anchor[],
): Promise<{ anchor: Anchor; fault: ChainFault }[]> {
  const lost: { anchor: Anchor; fault: ChainFault }[] = [];
  for (let from = 0; from < anchors.length; from += 1_000) {
    const found = await checkPlaces(db, anchors.slice(from, from + 1_000));
    lost.push(...found.map(({ place, fault }) => ({ anchor: place, fault })));
  }
  return lost;
}

const isFormer = ({ at }: Anchor, kept: KeptHead | null): boolean =>
  at !== null && kept !== null && kept.accepted !== null && at < kept.accepted.at;
