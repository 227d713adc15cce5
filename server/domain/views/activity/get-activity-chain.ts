import { isNull } from 'drizzle-orm';
import { auditEntries, type ChainFault } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { readHead } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';

/** How far the acts are linked, and up to where the links were checked. */
export interface ActivityChain {
  /** Acts in the chain. */
  position: number;
  hash: string;
  linkedAt: Date | null;
  /** Some wait for their link. */
  isBehind: boolean;
  verifiedAt: Date | null;
  verifiedPosition: number | null;
  fault: ChainFault | null;
}

/** The state of the chain, as the worker left it. */
export async function getActivityChain(ctx: Context): Promise<ActivityChain> {
  allow(ctx.actor, 'viewer');
  const [head, waiting] = await Promise.all([
    readHead(ctx.db),
    ctx.db.select({ id: auditEntries.id }).from(auditEntries).where(isNull(auditEntries.position)).limit(1),
  ]);
  return {
    position: head?.position ?? 0,
    hash: head?.hash ?? '',
    linkedAt: head?.linkedAt ?? null,
    isBehind: waiting.length > 0,
    verifiedAt: head?.verifiedAt ?? null,
    verifiedPosition: head?.verifiedPosition ?? null,
    fault: head?.fault ?? null,
  };
}
