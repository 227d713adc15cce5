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

/**
 * Gives the service's versions to the units whose turn it is (EN-56). Call it when the service changes, and when a unit
 * has run a hook.
 */
export async function advanceUnits(tx: Transaction, ctx: Context, serviceId: string): Promise<void> {
  const [found] = await lockWithSettings(tx, serviceId);
  if (found === undefined || found.service.life !== 'alive') return;
  const { formulaVersion, settingsVersion, atOnceUpgrade: upgrade, atOnceConfigure: configure } = found.service;
  const target = { formulaVersion, settingsVersion };
  const machines = await tx
    .select({ unit: units, ...machineColumns })
    .from(units)
    .leftJoin(agents, eq(agents.vmId, units.vmId))
    .where(and(eq(units.serviceId, serviceId), eq(units.life, 'alive'), isNull(units.removedAt)));
  const rows = machines.map(({ unit }) => unit);
  const failing = await failingUnits(tx, rows, target);
  const facts = machines.map(({ unit, ...machine }) => ({
    ...unit,
    isFailing: failing.has(unit.id),
    needsRelease: needsRelease(found.secret, { ...unit, ...machine }),
  }));
  const ids = new Set(advance(target, facts, { upgrade, configure }));
  const moving = rows.filter(({ id }) => ids.has(id));
  const vmIds = [...new Set(moving.map(({ vmId }) => vmId))].sort();
  for (const vmId of vmIds) {
    const turn = await takeTurn(tx, await lockHead(tx, vmId));
    const ofVm = moving.filter((unit) => unit.vmId === vmId).map(({ id }) => id);
    await tx
      .update(units)
      .set({ ...target, turn })
      .where(inArray(units.id, ofVm));
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
