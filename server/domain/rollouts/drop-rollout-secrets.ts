import { isNotNull } from 'drizzle-orm';
import { rollouts } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';

/**
 * With `ANNEX_CUSTODY=vm`, removes the protected settings of rollouts that the portal stored earlier. Rollouts that are
 * open then pause with the reason `secrets_custody`, and drafts must be given the settings again. Adds an entry to the
 * activity log if anything was removed. Returns the number of rollouts.
 */
export async function dropRolloutSecrets(ctx: Context): Promise<number> {
  if (ctx.config.custody !== 'vm') return 0;
  return ctx.db.transaction(async (tx) => {
    const dropped = await tx
      .update(rollouts)
      .set({ sealed: null, dueAt: ctx.now })
      .where(isNotNull(rollouts.sealed))
      .returning({ id: rollouts.id });
    if (dropped.length === 0) return 0;
    await recordAudit(tx, ctx, {
      action: 'secrets.drop-copies',
      target: { kind: 'installation', id: 'installation' },
      details: { secrets: dropped.length, tenantKeys: 0, rollouts: dropped.map(({ id }) => id) },
    });
    await recordChange(tx, 'rollout', '*');
    return dropped.length;
  });
}
