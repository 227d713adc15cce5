import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { agents, serviceSettings, services, units } from '#db/schema/index.ts';
import { recordChanges } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { lockHead, takeTurn } from '#server/domain/goal-states/index.ts';
import { advance, isConfirmed, type UnitVersions } from '#server/domain/service-rules/advance.ts';
import { raiseHeads } from '../relations/index.ts';
import { needsRelease } from '../release/needs-release.ts';
import type { UnitRow } from '../runs/find-unit.ts';
import { readUnitWork } from '../runs/read-due.ts';
import { isStagedUnitSql } from '../staging/slot.ts';
import { versionsOf } from '../staging/staged-target.ts';

/**
 * Gives the service's versions to the units whose turn it is (EN-56), separately in Production and in Staging. Call it
 * when the service changes, and when a unit has run a hook.
 */
export async function advanceUnits(tx: Transaction, ctx: Context, serviceId: string): Promise<void> {
  const [found] = await lockWithSettings(tx, serviceId);
  if (found === undefined || found.service.life !== 'alive') return;
  const { service, secret } = found;
  const machines = await tx
    .select({ unit: units, staged: isStagedUnitSql, ...machineColumns })
    .from(units)
    .leftJoin(agents, eq(agents.vmId, units.vmId))
    .where(and(eq(units.serviceId, serviceId), eq(units.life, 'alive'), isNull(units.removedAt)));
  for (const staged of [false, true]) {
    const target = versionsOf(service, staged);
    const own = machines.filter((one) => one.staged === staged);
    const failing = await failingUnits(
      tx,
      own.map(({ unit }) => unit),
      target,
    );
    const facts = own.map(({ unit, ...machine }) => ({
      ...unit,
      isFailing: failing.has(unit.id),
      needsRelease: needsRelease(secret, { ...unit, ...machine }),
    }));
    const ids = new Set(advance(target, facts, { upgrade: service.atOnceUpgrade, configure: service.atOnceConfigure }));
    await giveVersions(
      tx,
      ctx,
      target,
      facts.filter(({ id }) => ids.has(id)),
    );
  }
}

/** Gives versions to units. Their service is locked. */
export async function giveVersions(
  tx: Transaction,
  ctx: Context,
  { formulaVersion, settingsVersion }: UnitVersions,
  moving: readonly Pick<UnitRow, 'id' | 'vmId'>[],
): Promise<void> {
  const vmIds = [...new Set(moving.map(({ vmId }) => vmId))].sort();
  for (const vmId of vmIds) {
    const turn = await takeTurn(tx, await lockHead(tx, vmId));
    const ofVm = moving.filter((unit) => unit.vmId === vmId).map(({ id }) => id);
    await tx.update(units).set({ formulaVersion, settingsVersion, turn }).where(inArray(units.id, ofVm));
  }
  await raiseHeads(tx, ctx, vmIds);
  await recordChanges(tx, 'vm', vmIds);
}

const machineColumns = {
  enrolledAt: agents.enrolledAt,
  issuerKey: agents.issuerKey,
  issuerIsAdmin: agents.issuerIsAdmin,
};

/** Locks a service, and reads who entered its protected settings. */
const lockWithSettings = (tx: Transaction, serviceId: string) =>
  tx
    .select({
      service: services,
      secret: { hasSecret: sql<boolean>`${serviceSettings.secret} is not null`, setBy: serviceSettings.secretSetBy },
    })
    .from(services)
    .innerJoin(
      serviceSettings,
      and(eq(serviceSettings.serviceId, services.id), eq(serviceSettings.version, services.settingsVersion)),
    )
    .where(eq(services.id, serviceId))
    .for('no key update', { of: services });

/**
 * Returns the units that fail with the versions of their service. A hook that failed and is no longer due, for example
 * because its member left, stops nothing.
 */
async function failingUnits(
  tx: Transaction,
  rows: readonly UnitRow[],
  { formulaVersion, settingsVersion }: UnitVersions,
): Promise<ReadonlySet<string>> {
  const suspects = rows.filter(
    (unit) =>
      Object.keys(unit.failing).length > 0 &&
      unit.formulaVersion === formulaVersion &&
      unit.settingsVersion === settingsVersion &&
      !isConfirmed(unit),
  );
  if (suspects.length === 0) return new Set();
  const ids = suspects.map(({ id }) => id);
  const work = await readUnitWork(tx, inArray(units.id, ids));
  return new Set(work.filter(({ failing }) => Object.keys(failing).length > 0).map(({ unit }) => unit.id));
}
