import { and, eq } from 'drizzle-orm';
import type { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { hookRuns } from '#db/schema/index.ts';
import type { ConfirmedHook, skippedHooks } from '#protocol/unit-runs.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { confirmRelationHooks } from '../relations/index.ts';
import { confirmed, storeUnit } from './confirm-unit.ts';
import { lockUnit, type UnitRow } from './find-unit.ts';
import { canAdvance, lockForStart, type Settling, settle } from './settle.ts';

/** Whose decision it is if a removal continues without a hook. */
const removal = 'removal';

/**
 * Stores that hooks count as done: they have no file (EN-44), or they were skipped after failures (EN-49, EN-51).
 * Throws 409 `unit_gone`.
 */
export async function skipHooks(
  ctx: Context,
  { vmId, unit: name }: { vmId: string; unit: string },
  { boot, skipped }: z.output<typeof skippedHooks>,
): Promise<void> {
  const settling = await ctx.db.transaction(async (tx): Promise<Settling> => {
    await lockForStart(
      tx,
      vmId,
      name,
      skipped.map(({ hook }) => hook),
    );
    const before = await lockUnit(tx, vmId, name);
    let after: UnitRow = boot === undefined ? before : { ...before, record: { ...before.record, boot } };
    for (const hook of skipped) after = skipOne(after, hook, ctx.now);
    await endSkippedRuns(tx, ctx, before, skipped);
    await storeUnit(tx, ctx, { before, after, run: null });
    const ofRelations = skipped.flatMap(({ hook, relation, remoteUnit = null, version = null }) =>
      relation === undefined ? [] : [{ hook, relationId: relation, remoteUnit, version }],
    );
    const { endedServices } = await confirmRelationHooks(tx, ctx, before.id, ofRelations);
    await recordChange(tx, 'vm', vmId);
    const advances = skipped.some(({ hook }) => canAdvance(hook, before, after));
    return { serviceId: before.serviceId, advances, endedServices };
  });
  await settle(ctx, settling);
}

function skipOne(unit: UnitRow, { hook, relation, version, address, formula, run }: ConfirmedHook, now: Date): UnitRow {
  const by = unit.resolutions.find((one) => one.run === run)?.by;
  return confirmed(
    unit,
    {
      ...{ hook, relationId: relation ?? null, formula: formula ?? unit.formulaVersion },
      ...{ settings: version ?? unit.settingsVersion, address, run: null },
      ...(run !== undefined && { skippedBy: by ?? removal }),
    },
    now,
  );
}

/** Marks the runs after which hooks are skipped. Nothing from them is stored. */
async function endSkippedRuns(
  tx: Transaction,
  { now }: Context,
  unit: UnitRow,
  skipped: readonly ConfirmedHook[],
): Promise<void> {
  for (const { run } of skipped) {
    if (run === undefined) continue;
    await tx
      .update(hookRuns)
      .set({ outcome: 'skipped', endedAt: now })
      .where(and(eq(hookRuns.vmId, unit.vmId), eq(hookRuns.id, run), eq(hookRuns.unitId, unit.id)));
  }
}
