import { eq } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { services } from '#db/schema/index.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { ModelRow } from '#server/domain/topology/index.ts';
import { requireEndpoints } from '../change-service.ts';
import type { ServiceRow } from '../service-rows.ts';
import { latestSettings, readSettings } from '../settings/plan-settings.ts';
import { advanceUnits } from '../units/advance-units.ts';
import { hasStagedUnits } from './slot.ts';
import { planStaged, type StagedTarget, stagedColumns } from './staged-target.ts';
import { insertStaged } from './store-staged.ts';

/**
 * Checks a version for the units of a service in Staging: that it is published, and that its schema accepts the
 * settings of the service. Without a version, units keep that of the units that are staged. Nothing is locked
 * meanwhile.
 */
export async function prepareStaging(
  ctx: Context,
  row: ServiceRow,
  version: string | undefined,
): Promise<StagedTarget | null> {
  const kept = (await hasStagedUnits(ctx.db, row.id)) ? row.stagedVersion : null;
  const settings = await readSettings(ctx.db, row.id, row.settingsVersion);
  const latest = await latestSettings(ctx.db, row.id);
  return planStaged(ctx, { ...row, settings, latest, current: row, isChanged: false }, version ?? kept);
}

/**
 * Stores the version of the units of a service in Staging. The model is locked. Throws 422 `formula_lacks_endpoint`.
 */
export async function stageVersion(
  tx: Transaction,
  ctx: Context,
  model: Pick<ModelRow, 'name'>,
  row: ServiceRow,
  staged: StagedTarget | null,
): Promise<void> {
  const next = stagedColumns(staged);
  if (next.stagedVersion === row.stagedVersion && next.stagedSettingsVersion === row.stagedSettingsVersion) return;
  if (staged !== null) await requireEndpoints(tx, row, staged.formula);
  await insertStaged(tx, row, { staged, settings: { version: row.settingsVersion } });
  await tx.update(services).set(next).where(eq(services.id, row.id));
  await advanceUnits(tx, ctx, row.id);
  await recordAudit(tx, ctx, {
    action: 'service.update',
    target: { kind: 'model', id: model.name },
    before: { stagedVersion: row.stagedVersion },
    after: { stagedVersion: next.stagedVersion },
    details: { service: row.name, protectedChanged: false },
  });
}
