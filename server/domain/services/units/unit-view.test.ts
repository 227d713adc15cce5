import { eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoints, relations, unitPorts, units, vmRoles } from '#db/schema/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { testContext } from '#server/testing/context.ts';
import { addRelation, beginRun, getService, removeUnit } from '../index.ts';
import type { UnitRow } from '../runs/find-unit.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { listUnitRelations } from './unit-relations.ts';
import { getUnit } from './unit-view.ts';
import { listUnitsOfVm } from './units-of-vm.ts';

let stage: ServiceStage;
let off: Staged;
let machine: number;
let vmId: string;
let web: { formula: string; version: string };
let db: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  off = await stage.stage.bootstrapped();
  const requires = { db: { interface: 'sql' }, cache: { interface: 'memo', optional: true } };
  web = await stage.formula('web', '1.0.0.0', { metadata: { requires, peers: { ring: { interface: 'ring' } } } });
  db = await stage.formula('sql', '1.0.0.0', { metadata: { provides: { db: { interface: 'sql' } } } });
  const { newUnits } = await stage.deploy(off, 'web', web);
  ({ machine, vmId } = newUnits[0]!.machine!);
});

const unitOf = (unit: string, ctx = stage.viewer) => getUnit(ctx, { model: off.model, unit });
const set = (name: string, values: Partial<UnitRow>) =>
  stage.ctx.db.update(units).set(values).where(eq(units.name, name));
const idOf = async (name: string) => (await stage.ctx.db.select().from(units).where(eq(units.name, name)))[0]!.id;
const declare = (service: string, more: object = {}) =>
  stage.declare(off, service, { ...web, units: 1, to: machine, ...more });

describe('a unit', () => {
  test('is shown with its machine, its versions and who created it', async () => {
    const [role] = await stage.ctx.db.select().from(vmRoles).where(eq(vmRoles.vmId, vmId));
    const { vm, agentSince, thumbprint, ...shown } = await unitOf('web/0');
    expect(shown).toEqual({
      ...{ unit: 'web/0', number: 0, service: 'web', formula: web.formula, life: 'alive', stage: 'installing' },
      ...{ health: 'unknown', cause: null, hook: null, missingRelation: null, vmId, machine },
      ...{ instanceId: expect.stringContaining(role?.name ?? '-'), slot: 'production' },
      publicAddress: expect.stringContaining('public'),
      ...{ version: '1.0.0.0', confirmedVersion: null, settingsVersion: 1, confirmedSettingsVersion: null },
      ...{ needsRelease: false, enrolledBy: stage.ctx.actor.name, ports: [], failing: [], skipped: [] },
      ...{ enteredAt: null, dyingSince: null, removedAt: null },
      ...{ createdAt: stage.ctx.now.toISOString(), createdBy: stage.ctx.actor.name },
    });
    expect([vm, agentSince, thumbprint]).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
  });

  test('goes through the stages of its life', async () => {
    const unit = { unit: 'life/0', vmId };
    await declare('life');
    const stages = [(await unitOf('life/0')).stage];
    await stage.look(vmId);
    for (const hook of ['install', 'config-changed', 'start']) {
      stages.push((await unitOf('life/0')).stage);
      await stage.run(unit, hook);
    }
    stages.push((await unitOf('life/0')).stage);
    expect(await unitOf('life/0')).toMatchObject({ confirmedVersion: '1.0.0.0', confirmedSettingsVersion: 1 });
    await removeUnit(stage.ctx, { model: off.model, unit: 'life/0' });
    const leaving = await unitOf('life/0');
    expect(leaving).toMatchObject({ dyingSince: expect.any(String), removedAt: null });
    stages.push(leaving.stage);
    await removeUnit(stage.ctx, { model: off.model, unit: 'life/0', force: true });
    const removed = await unitOf('life/0');
    expect(removed).toMatchObject({ health: null, cause: null, hook: null, removedAt: expect.any(String) });
    stages.push(removed.stage);
    expect(stages).toEqual(['placed', 'installing', 'configuring', 'starting', 'started', 'leaving', 'removed']);
  });

  test('lists its ports as texts, and hooks that were skipped with who decided', async () => {
    await declare('ports');
    const unitId = await idOf('ports/0');
    const opened = { unitId, openedRun: uuid(), openedAt: stage.ctx.now };
    const ports = [
      { ...opened, port: 443, protocol: 'tcp' as const },
      { ...opened, port: 53, protocol: 'udp' as const },
      { ...opened, port: 53, protocol: 'tcp' as const },
    ];
    await stage.ctx.db.insert(unitPorts).values(ports);
    const at = stage.ctx.now.toISOString();
    await set('ports/0', { skipped: [{ hook: 'install', formula: '1.0.0.0', at, by: 'Ada' }] });
    expect(await unitOf('ports/0')).toMatchObject({
      ...{ ports: ['443/tcp', '53/tcp', '53/udp'], skipped: [{ hook: 'install', version: '1.0.0.0', at, by: 'Ada' }] },
    });
    expect((await unitOf('web/0')).ports, 'of another unit on the VM').toEqual([]);
  });

  test('whose role was removed has no machine and no address', async () => {
    const { newUnits } = await stage.declare(off, 'homeless', { ...web });
    const of = newUnits[0]!.machine!.vmId;
    await stage.ctx.db.delete(endpoints).where(eq(endpoints.vmId, of));
    await stage.ctx.db.delete(vmRoles).where(eq(vmRoles.vmId, of));
    expect(await unitOf('homeless/0')).toMatchObject({
      ...{ machine: null, instanceId: null, publicAddress: null, enrolledBy: null, thumbprint: null },
    });
  });

  test.each([
    ['a unit that does not exist', 'web/9', 'unit_unknown'],
    ['a unit of another service', 'we/0', 'unit_unknown'],
  ])('is unknown: %s', async (_, unit, code) => {
    await expect(unitOf(unit)).rejects.toMatchObject({ kind: 'not_found', code });
  });

  test('is unknown in a model that does not have it, and is not shown without a sign-in', async () => {
    const other = await stage.stage.bootstrapped();
    await expect(getUnit(stage.viewer, { model: other.model, unit: 'web/0' })).rejects.toMatchObject({
      ...{ code: 'unit_unknown' },
    });
    const anonymous = await testContext({ services: stage.ctx, role: null });
    await expect(unitOf('web/0', anonymous)).rejects.toMatchObject({ kind: 'unauthenticated' });
  });

  test('follows those with lower numbers, 10 after 9', async () => {
    await declare('ordered', { units: 12 });
    const { units: shown } = await getService(stage.viewer, { model: off.model, service: 'ordered' });
    expect(shown.map(({ number }) => number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    await declare('ordered', { units: 0 });
  });
});

describe('EN-81 the units of a VM', () => {
  const listed = async (of = vmId, ctx = stage.viewer) => (await listUnitsOfVm(ctx, { vmId: of })).items;

  test('have the hook that runs and those that are due, and not those that were removed', async () => {
    await declare('pair', { units: 2 });
    await removeUnit(stage.ctx, { model: off.model, unit: 'pair/1', force: true });
    const run = uuid();
    const begin = { phase: 'begin' as const, hook: 'install', attempt: 1, formula: '1.0.0.0', timeoutSeconds: 299.5 };
    await beginRun(stage.ctx, { vmId, unit: 'pair/0', run }, begin);
    const items = await listed();
    expect(items.map(({ unit }) => unit)).not.toContain('pair/1');
    expect(items.find(({ unit }) => unit === 'pair/0')).toMatchObject({
      ...{ model: off.model, vmId },
      running: { run, hook: 'install', remoteUnit: null, timeoutSeconds: 300, begunAt: stage.ctx.now.toISOString() },
      due: [{ hook: 'install' }, { hook: 'config-changed' }, { hook: 'start' }],
    });
    expect(items.find(({ unit }) => unit === 'web/0')).toMatchObject({ running: null });
    const turns = Object.fromEntries(items.map(({ unit, turn }) => [unit, turn]));
    expect(turns['pair/0']).toBeGreaterThan(turns['web/0'] ?? 0);
  });

  test('are none on another VM, and the name of a VM is not an id', async () => {
    expect(await listed(uuid())).toEqual([]);
    await expect(listed('web-1')).rejects.toMatchObject({ code: 'invalid' });
    const anonymous = await testContext({ services: stage.ctx, role: null });
    await expect(listed(vmId, anonymous)).rejects.toMatchObject({ kind: 'unauthenticated' });
  });
});

describe('EN-73 the relations of a unit', () => {
  const listed = async (unit: string) => (await listUnitRelations(stage.viewer, { model: off.model, unit })).items;

  test('are none before it has started, and then include its peers', async () => {
    expect(await listed('web/0')).toEqual([]);
    await stage.start({ unit: 'web/0', vmId });
    expect(await listed('web/0')).toMatchObject([
      { name: 'ring', side: 'peer', interface: 'ring', service: 'web', members: 0, behind: 0, failing: null },
    ]);
  });

  test('are sorted by number, each from the side of the unit, and end', async () => {
    await stage.declare(off, 'store', { ...db, units: 1, to: machine });
    const { number, id } = await addRelation(stage.ctx, { model: off.model, endpoints: ['web', 'store'] });
    await stage.start({ unit: 'store/0', vmId });
    const related = { number, id, name: 'db', interface: 'sql', life: 'alive', state: 'in', members: 1, behind: 1 };
    const ofWeb = await listed('web/0');
    expect(ofWeb.map(({ name }) => name)).toEqual(['ring', 'db']);
    expect(ofWeb[1]).toMatchObject({ ...related, side: 'requires', service: 'store', version: 1 });
    expect(await listed('store/0')).toMatchObject([{ ...related, side: 'provides', service: 'web' }]);
    await stage.ctx.db.update(relations).set({ removedAt: stage.ctx.now }).where(eq(relations.id, id));
    expect([(await listed('web/0')).map(({ name }) => name), await listed('store/0')]).toEqual([['ring'], []]);
  });

  test('are unknown for a unit that does not exist', async () => {
    await expect(listed('web/9')).rejects.toMatchObject({ code: 'unit_unknown' });
  });
});
