import { and, isNotNull } from 'drizzle-orm';
import { secrets, stockAgents } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';

/** How many copies that only the portal could open were removed. */
export interface DroppedCopies {
  secrets: number;
  tenantKeys: number;
}

/**
 * With `ANNEX_CUSTODY=vm`, removes what the portal kept before: its copies of protected settings that are encrypted for
 * a VM, and tenant keys that an agent was given. Settings for which no machine has come yet, and withheld ones, stay
 * until they are encrypted for one. An act where something was removed.
 */
export async function dropPortalCopies(ctx: Context): Promise<DroppedCopies> {
  if (ctx.config.custody !== 'vm') return { secrets: 0, tenantKeys: 0 };
  return ctx.db.transaction(async (tx) => {
    const settings = await tx
      .update(secrets)
      .set({ sealed: null })
      .where(and(isNotNull(secrets.sealed), isNotNull(secrets.cms)));
    const keys = await tx
      .update(stockAgents)
      .set({ tenantKey: null })
      .where(and(isNotNull(stockAgents.tenantKey), isNotNull(stockAgents.transportThumbprint)));
    const dropped = { secrets: settings.rowCount ?? 0, tenantKeys: keys.rowCount ?? 0 };
    if (dropped.secrets + dropped.tenantKeys === 0) return dropped;
    await recordAudit(tx, ctx, {
      action: 'secrets.drop-copies',
      target: { kind: 'installation', id: 'installation' },
      details: dropped,
    });
    return dropped;
  });
}
