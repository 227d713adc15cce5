import { and, eq, isNull } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { models, relations, services, units, vmRoles, vms } from '#db/schema/index.ts';
import { faultsOf } from '#server/domain/topology/testing/faults.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { RandomWorld } from './testing/random-world.ts';
import { ServiceStage } from './testing/service-stage.ts';

let stage: ServiceStage;

beforeAll(async () => {
  stage = await ServiceStage.open();
  await RandomWorld.formulas(stage);
});

/** Returns what should not be left once all work is done. */
async function leftOver(model: string): Promise<string[]> {
  const { db } = stage.ctx;
  const [row] = await db.select().from(models).where(eq(models.name, model));
  const id = row?.id ?? '';
  const ofServices = await db.select().from(services).where(eq(services.modelId, id));
  const ofRelations = await db.select().from(relations).where(eq(relations.modelId, id));
  const present = await db
    .select({ unit: units, service: services, cloudService: vmRoles.cloudService, deletedAt: vms.deletedAt })
    .from(units)
    .innerJoin(services, eq(services.id, units.serviceId))
    .innerJoin(vms, eq(vms.id, units.vmId))
    .leftJoin(vmRoles, eq(vmRoles.vmId, units.vmId))
    .where(and(eq(units.modelId, id), isNull(units.removedAt)));
  const roles = await db.select().from(vmRoles).where(eq(vmRoles.modelId, id));
  const empty = roles.filter(({ vmId }) => !present.some(({ unit }) => unit.vmId === vmId));
  const placed = new Map<string | null, Set<string>>();
  for (const { cloudService, service } of present) {
    placed.set(cloudService, (placed.get(cloudService) ?? new Set()).add(service.name));
  }
  const isOpen = ({ life, removedAt }: { life: string; removedAt: Date | null }) =>
    life === 'dying' && removedAt === null;
  return [
    ...ofServices.filter(isOpen).map(({ name }) => `the service ${name} is dying`),
    ...ofRelations.filter(isOpen).map(({ number }) => `the relation ${number} is dying`),
    ...present.filter(({ unit }) => isOpen(unit)).map(({ unit }) => `${unit.name} is dying`),
    ...present.filter(({ deletedAt }) => deletedAt !== null).map(({ unit }) => `${unit.name} has no VM`),
    ...present.filter(({ cloudService }) => cloudService === null).map(({ unit }) => `${unit.name} has no role`),
    ...present
      .filter(({ unit, service }) => service.life === 'alive' && unit.formulaVersion !== service.formulaVersion)
      .map(({ unit }) => `${unit.name} lacks the version of its service`),
    ...present
      .filter(({ unit, service }) => service.life === 'alive' && unit.settingsVersion !== service.settingsVersion)
      .map(({ unit }) => `${unit.name} lacks the settings of its service`),
    ...empty.map(({ name }) => `the role ${name} has no unit`),
    ...[...placed].filter(([, shared]) => shared.size > 1).map(([name]) => `${name} has units of several services`),
  ];
}

test.each(runsLong ? [1, 2, 3, 4] : [1])(
  'JU-23 EN-56 nothing is left over after random acts of people and agents, history %i',
  async (seed) => {
    const staged = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
    const world = new RandomWorld(stage, staged, seed);
    for (let step = 0; step < 80; step += 1) await world.step();
    await world.quiet();
    expect(await leftOver(staged.model)).toEqual([]);
    expect(await faultsOf(stage.ctx, staged.model, staged.provider)).toEqual([]);
  },
);
