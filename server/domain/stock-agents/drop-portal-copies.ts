import { and, isNotNull } from 'drizzle-orm';
import { stockAgents } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { dropSealedCopies } from '#server/domain/goal-states/index.ts';

/** Counts of the removed copies, which only the portal could decrypt. */
export interface DroppedCopies {
  secrets: number;
  tenantKeys: number;
}

/**
 * With `ANNEX_CUSTODY=vm`, removes what the portal stored earlier: its own copies of protected settings that are also
 * encrypted for a VM, and tenant keys that an agent already has. Settings for a VM without a machine, and withheld
 * settings, are kept until they are encrypted for a machine. Adds an entry to the activity log if anything was removed.
 */
export async function dropPortalCopies(ctx: Context): Promise<DroppedCopies> {
  if (ctx.config.custody !== 'vm') return { secrets: 0, tenantKeys: 0 };
  return ctx.db.transaction(async (tx) => {
    const settings = await dropSealedCopies(tx);
    const keys = await tx
      .update(stockAgents)
      .set({ tenantKey: null })
      .where(and(isNotNull(stockAgents.tenantKey), isNotNull(stockAgents.transportThumbprint)));
    const dropped = { secrets: settings, tenantKeys: keys.rowCount ?? 0 };
    if (dropped.secrets + dropped.tenantKeys === 0) return dropped;
    await recordAudit(tx, ctx, {
      action: 'secrets.drop-copies',
      target: { kind: 'installation', id: 'installation' },
      details: dropped,
    });
    return dropped;
  });
}
