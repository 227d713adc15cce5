import type { ChainFault } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { readHead, readVerdict } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';

/** Age in milliseconds after which a check counts as stale. The worker writes a result at least every 20 seconds. */
const staleMs = 120_000;

/** The length of the activity log's hash chain, and the results of the worker's checks. */
export interface ActivityChain {
  /** Number of entries in the chain. */
  position: number;
  hash: string;
  /** When the newest entries were last checked; null if there is no valid result. */
  checkedAt: Date | null;
  /** Whether the last check is too old; without a valid check, whether the newest entry in the chain is too old. */
  isStale: boolean;
  /** When all entries were last checked, and how many there were. */
  verifiedAt: Date | null;
  verifiedPosition: number | null;
  fault: ChainFault | null;
}

/** Returns the length of the chain, and the results of the worker's last checks. */
export async function getActivityChain(ctx: Context): Promise<ActivityChain> {
  allow(ctx.actor, 'viewer');
  const head = await readHead(ctx.db);
  const verdict = readVerdict(ctx.keys, head);
  const acted = head?.linkedAt ?? ctx.now;
  return {
    position: head?.position ?? 0,
    hash: head?.hash ?? '',
    checkedAt: verdict?.checkedAt ?? null,
    isStale: Math.abs(ctx.now.getTime() - (verdict?.checkedAt ?? acted).getTime()) > staleMs,
    verifiedAt: verdict?.verifiedAt ?? null,
    verifiedPosition: verdict?.verifiedPosition ?? null,
    fault: verdict?.fault ?? null,
  };
}
