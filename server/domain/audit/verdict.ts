import { eq } from 'drizzle-orm';
import { auditChain, type ChainFault } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { keyedDigest } from '#server/platform/keys.ts';
import type { ChainHead } from './chain.ts';

/** The result of the worker's checks. */
export interface ChainVerdict {
  /** When the newest entries were checked. */
  checkedAt: Date;
  /** When all entries were last checked, and the position of the last entry that was checked. */
  verifiedAt: Date | null;
  verifiedPosition: number | null;
  fault: ChainFault | null;
}

function digestOf(keys: Services['keys'], { checkedAt, verifiedAt, verifiedPosition, fault }: ChainVerdict): string {
  const place = fault && [fault.kind, fault.id, fault.position];
  const text = canonicalJson([checkedAt.toISOString(), verifiedAt?.toISOString() ?? null, verifiedPosition, place]);
  return keyedDigest(keys.audit, 'verdict', text).toString('base64url');
}

/** Reads the verdict stored with the head; null if there is none, or if the worker did not write it. */
export function readVerdict(keys: Services['keys'], head: ChainHead | undefined): ChainVerdict | null {
  if (head === undefined || head.checkedAt === null || head.verdict === null) return null;
  const { checkedAt, verifiedAt, verifiedPosition, fault } = head;
  const verdict = { checkedAt, verifiedAt, verifiedPosition, fault };
  return digestOf(keys, verdict) === head.verdict ? verdict : null;
}

/** Stores the verdict with the head of the chain, and a keyed digest by which `readVerdict` recognizes it. */
export async function writeVerdict({ db, keys }: Pick<Services, 'db' | 'keys'>, verdict: ChainVerdict): Promise<void> {
  await db
    .update(auditChain)
    .set({ ...verdict, verdict: digestOf(keys, verdict) })
    .where(eq(auditChain.id, 1));
}
