import { and, eq, inArray, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { agents, cloudServices, deployments, services, unitPorts, units, vmRoles, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, isoOrNull, time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { stageOf } from '#server/domain/service-rules/stage.ts';
import { lives, unitStages } from '#server/domain/service-rules/words.ts';
import { type ModelRow, readModel } from '#server/domain/topology/index.ts';
import { formatInstanceId } from '#server/domain/topology-rules/instance-ids.ts';
import { slots } from '#server/domain/topology-rules/words.ts';
import { healthCauses, vmHealths } from '#server/domain/verdicts/words.ts';
import { vmId } from '#server/domain/vms/input.ts';
import { missingRelation, readOffers } from '../health/read-offers.ts';
import { readUnitHealth } from '../health/read-unit-health.ts';
import { type GetUnitInput, getUnitInput } from '../input.ts';
import { unitNeedsRelease } from '../release/unit-needs-release.ts';
import { isDeployment, publicAddressSql } from '../unit-state/read-units.ts';
import { failing, readFailures } from './read-failures.ts';

/** A unit as the API returns it. */
export const unit = z
  .object({
    unit: z.string().describe('`<service>/<number>`.'),
    number: count,
    service: z.string(),
    formula: z.string(),
    life: z.enum(lives),
    stage: z.enum(unitStages),
    health: z.enum(vmHealths).nullable().describe('Null for a removed unit.'),
    cause: z.enum(healthCauses).nullable(),
    hook: z.string().nullable().describe('The hook that is the cause of the health.'),
    vmId,
    vm: z.string().describe('The name of the VM.'),
    machine: count.nullable().describe('The number of the machine in the model; null if it was removed.'),
    instanceId: z.string().nullable(),
    slot: z.enum(slots).nullable().describe('The slot of the cloud service that the unit is in.'),
    publicAddress: z.string().nullable().describe('Null for a unit in Staging.'),
    version: z.string().describe('The version of the formula that the unit should have.'),
    confirmedVersion: z.string().nullable().describe('The version that its hooks confirmed.'),
    settingsVersion: count,
    confirmedSettingsVersion: count.nullable(),
    missingRelation: missingRelation
      .nullable()
      .describe('The relation that is the cause of the health, if one is missing.'),
    needsRelease: z
      .boolean()
      .describe('Whether protected settings are withheld from the machine until an admin releases them.'),
    enrolledBy: z.string().nullable().describe('Who issued the enrollment token of the machine.'),
    thumbprint: z.string().nullable().describe('The thumbprint of the machine’s certificate.'),
    ports: z.array(z.string()).describe('Ports that hooks opened, such as `80/tcp`.'),
    failing: z.array(failing),
    skipped: z.array(z.object({ hook: z.string(), version: z.string(), at: time, by: z.string() })),
    agentSince: time.nullable().describe('When an agent first fetched the unit.'),
    enteredAt: time.nullable().describe('When the unit first started, and entered its relations.'),
    dyingSince: time.nullable(),
    removedAt: time.nullable(),
    createdAt: time,
    createdBy: z.string(),
  })
  .meta({ id: 'Unit' });
export type UnitView = z.infer<typeof unit>;

/** Reads one unit, even one that was removed. Throws 404 `model_unknown` | `unit_unknown`. */
export async function getUnit(ctx: Context, input: GetUnitInput): Promise<UnitView> {
  allow(ctx.actor, 'viewer');
  const { model: name, unit: unitName } = parse(getUnitInput, input);
  const model = await readModel(ctx.db, name);
  return showUnit(ctx, model, unitName);
}

/** Returns a unit of a model as the API shows it. Throws 404 `unit_unknown`. */
export async function showUnit(ctx: Context, { id }: ModelRow, name: string): Promise<UnitView> {
  const [shown] = await readUnitViews(ctx, and(eq(units.modelId, id), eq(units.name, name)));
  if (shown === undefined) throw new DomainError('not_found', 'unit_unknown');
  return shown;
}

/** Reads units as the API shows them, by service and number. */
export async function readUnitViews(ctx: Context, where: SQL | undefined): Promise<UnitView[]> {
  const rows = await readRows(ctx, where);
  if (rows.length === 0) return [];
  const ids = rows.map(({ row }) => row.id);
  const ports = await ctx.db.select().from(unitPorts).where(inArray(unitPorts.unitId, ids));
  const portsOf = Map.groupBy(ports, ({ unitId }) => unitId);
  const evaluated = await ctx.db.transaction((tx) => readUnitHealth(tx, inArray(units.id, ids), ctx.now));
  const failuresOf = await readFailures(
    ctx.db,
    rows.map(({ row }) => row),
  );
  const offers = await readOffers(ctx.db, evaluated);
  const healthOf = new Map(evaluated.map((one) => [one.unit.id, one]));
  return rows.map(
    ({ row, service, formula, vm, machine, cloudService, role, slot, publicAddress, enrolledBy, thumbprint }) => {
      const { record } = row;
      const found = healthOf.get(row.id);
      return {
        ...{ unit: row.name, number: row.number, life: row.life, stage: stageOf(row), vmId: row.vmId, vm, machine },
        ...{ health: found?.health ?? null, cause: found?.cause ?? null, hook: found?.command ?? null },
        instanceId: cloudService === null || role === null ? null : formatInstanceId({ service: cloudService, role }),
        ...{ slot, publicAddress, version: row.formulaVersion, confirmedVersion: record.formula },
        ...{ settingsVersion: row.settingsVersion, confirmedSettingsVersion: record.configured?.settings ?? null },
        missingRelation: offers.get(row.id) ?? null,
        ...{ needsRelease: found !== undefined && unitNeedsRelease(found.unit), enrolledBy, thumbprint },
        ports: (portsOf.get(row.id) ?? []).map(({ port, protocol }) => `${port}/${protocol}`).sort(),
        ...{ service, formula, failing: failuresOf(row) },
        skipped: row.skipped.map(({ hook, formula: version, at, by }) => ({ hook, version, at, by })),
        ...{ agentSince: isoOrNull(row.agentSince), enteredAt: isoOrNull(row.enteredAt) },
        dyingSince: isoOrNull(row.dyingAt),
        ...{ removedAt: isoOrNull(row.removedAt), createdAt: row.createdAt.toISOString(), createdBy: row.createdBy },
      };
    },
  );
}

const readRows = ({ db }: Context, where: SQL | undefined) =>
  db
    .select({
      ...{ row: units, service: services.name, formula: services.formula, vm: vms.name, machine: vmRoles.machine },
      ...{
        cloudService: vmRoles.cloudService,
        role: vmRoles.name,
        slot: deployments.slot,
        publicAddress: publicAddressSql,
      },
      ...{ enrolledBy: agents.enrolledBy, thumbprint: agents.thumbprint },
    })
    .from(units)
    .innerJoin(services, eq(services.id, units.serviceId))
    .innerJoin(vms, eq(vms.id, units.vmId))
    .leftJoin(agents, eq(agents.vmId, units.vmId))
    .leftJoin(vmRoles, eq(vmRoles.vmId, units.vmId))
    .leftJoin(cloudServices, eq(cloudServices.name, vmRoles.cloudService))
    .leftJoin(deployments, isDeployment)
    .where(where)
    .orderBy(units.serviceId, units.number);
