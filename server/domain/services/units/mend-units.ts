import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import { services, unitHeads, units, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { isStagedUnitSql } from '../staging/slot.ts';
import { advanceUnits } from './advance-units.ts';
import { endServices } from './end-services.ts';
import { removeUnitsIn } from './remove-units.ts';

/** Maximum number of units that one run removes, so that a run stays short. */
const maxUnits = 200;

/**
 * Removes units whose VMs were deleted: by an interrupted request, or with their model. Also removes services that an
 * interrupted request left without units and relations, and continues changes that no longer wait for anything. Returns
 * how many units it removed.
 */
export async function mendUnits(ctx: Context): Promise<number> {
  allow(ctx.actor, 'operator');
  const lost = await ctx.db
    .select({ id: units.id, vmId: units.vmId })
    .from(units)
    .innerJoin(vms, eq(vms.id, units.vmId))
    .where(and(isNull(units.removedAt), isNotNull(vms.deletedAt)))
    .orderBy(units.id)
    .limit(maxUnits);
  if (lost.length > 0) {
    const ids = lost.map(({ id }) => id);
    await ctx.db.transaction((tx) => removeUnitsIn(tx, ctx, ids, { forced: true }));
  }
  const dying = await ctx.db
    .select({ id: services.id })
    .from(services)
    .where(and(eq(services.life, 'dying'), isNull(services.removedAt)));
  const ids = dying.map(({ id }) => id);
  if (ids.length > 0) await ctx.db.transaction((tx) => endServices(tx, ctx, ids));
  for (const id of await servicesBehind(ctx)) await ctx.db.transaction((tx) => advanceUnits(tx, ctx, id));
  const dayAgo = new Date(ctx.now.getTime() - 86_400_000).toISOString();
  await ctx.db.execute(sql`
    delete from ${unitHeads} h using ${vms} v where v.id = h.vm_id and v.deleted_at > ${dayAgo}::timestamptz
       and not exists (select from ${units} u where u.vm_id = h.vm_id and u.removed_at is null)`);
  return lost.length;
}

/** Returns services with units that do not have their versions yet. */
async function servicesBehind({ db }: Context): Promise<string[]> {
  const rows = await db
    .selectDistinct({ id: services.id })
    .from(services)
    .innerJoin(units, eq(units.serviceId, services.id))
    .where(
      and(
        ...[eq(services.life, 'alive'), eq(units.life, 'alive'), isNull(units.removedAt)],
        sql`(${units.formulaVersion}, ${units.settingsVersion}) is distinct from (case when ${isStagedUnitSql}
              then (coalesce(${services.stagedVersion}, ${services.formulaVersion}),
                coalesce(${services.stagedSettingsVersion}, ${services.settingsVersion}))
              else (${services.formulaVersion}, ${services.settingsVersion}) end)`,
      ),
    );
  return rows.map(({ id }) => id);
}
