import { and, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { deployments, hookRuns, models, unitPorts, units, vmRoles, vms } from '#db/schema/index.ts';
import type { WantedLanguage } from '#protocol/index.ts';
import { isConfirmed } from '#server/domain/service-rules/advance.ts';
import { stageOf } from '#server/domain/service-rules/stage.ts';
import { type EvaluatedUnit, readUnitHealth, unitNeedsRelease } from '#server/domain/services/index.ts';
import { failingState } from './failing-state.ts';
import { readHookReasons } from './read-hook-reasons.ts';
import type { ServiceUnit } from './service-state.ts';

type Reasons = Awaited<ReturnType<typeof readHookReasons>>;
type Place = Pick<ServiceUnit, 'number' | 'vm' | 'machine' | 'isStaged' | 'running' | 'ports'>;

/** Reads the units that match, by the id of their service and sorted by number. */
export async function readServiceUnits(
  tx: Transaction,
  where: SQL,
  now: Date,
  wanted: readonly WantedLanguage[],
): Promise<Map<string, ServiceUnit[]>> {
  const evaluated = await readUnitHealth(tx, where, now);
  const failed = evaluated.flatMap(({ unit, failing }) =>
    Object.values(failing).map(({ run }) => ({ vmId: unit.vmId, run, formula: unit.formula })),
  );
  const reasons = await readHookReasons(tx, failed, wanted);
  const placeOf = await readPlaces(tx, and(where, isNull(units.removedAt)));
  const shown = evaluated.flatMap((one) => {
    const place = placeOf.get(one.unit.id);
    return place === undefined ? [] : [{ id: one.unit.serviceId, unit: { ...unitOf(one, reasons), ...place } }];
  });
  const byService = Map.groupBy(shown, ({ id }) => id);
  return new Map(
    [...byService].map(([id, all]) => [id, all.map(({ unit }) => unit).sort((a, b) => a.number - b.number)]),
  );
}

/** Reads where units are, what runs on them and which ports they opened, by the unit's id. */
async function readPlaces(tx: Transaction, where: SQL | undefined): Promise<Map<string, Place>> {
  const rows = await tx
    .select({
      ...{ id: units.id, number: units.number, vm: vms.name, machine: vmRoles.machine, running: hookRuns.hook },
      isStaged: sql<boolean>`${models.availabilitySetsEnabled} and ${deployments.slot} is not distinct from 'staging'`,
    })
    .from(units)
    .innerJoin(models, eq(models.id, units.modelId))
    .innerJoin(vms, eq(vms.id, units.vmId))
    .leftJoin(vmRoles, eq(vmRoles.vmId, units.vmId))
    .leftJoin(
      deployments,
      and(eq(deployments.cloudService, vmRoles.cloudService), eq(deployments.name, vmRoles.deployment)),
    )
    .leftJoin(
      hookRuns,
      and(eq(hookRuns.vmId, units.vmId), eq(hookRuns.unitId, units.id), eq(hookRuns.outcome, 'running')),
    )
    .where(where);
  const opened = await tx
    .select({ unitId: unitPorts.unitId, port: unitPorts.port, protocol: unitPorts.protocol })
    .from(unitPorts)
    .innerJoin(units, eq(units.id, unitPorts.unitId))
    .where(where)
    .orderBy(unitPorts.port);
  const portsOf = Map.groupBy(opened, ({ unitId }) => unitId);
  const ports = (id: string) => (portsOf.get(id) ?? []).map(({ port, protocol }) => `${port}/${protocol}`);
  return new Map(rows.map(({ id, ...place }) => [id, { ...place, ports: ports(id) }]));
}

function unitOf(
  { unit, health, cause, command, due, failing }: EvaluatedUnit,
  reasons: Reasons,
): Omit<ServiceUnit, keyof Place> {
  const [next] = due;
  return {
    ...{ unit: unit.name, life: unit.life, stage: stageOf({ ...unit, removedAt: null }), vmId: unit.vmId },
    ...{ health, cause, hook: command, publicAddress: unit.publicAddress },
    ...{
      version: unit.formulaVersion,
      settingsVersion: unit.settingsVersion,
      isConfirmed: isConfirmed(unit),
      needsRelease: unitNeedsRelease(unit),
    },
    next: next === undefined ? null : { hook: next.hook, remoteUnit: next.remoteUnit ?? null },
    failing: Object.values(failing).map((failure) => failingState(failure, unit.resolutions, reasons)),
  };
}
