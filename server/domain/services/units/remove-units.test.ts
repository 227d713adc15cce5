import { and, eq, inArray, sql } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, hookRuns, services, unitHeads, unitPorts, units, vmRoles, vms } from '#db/schema/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { addRelation, beginRun, mendUnits, replaceLostUnits } from '../index.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { endServices } from './end-services.ts';
import { dismissUnits } from './leave.ts';
import { removeUnitsIn, type UnitRemoval } from './remove-units.ts';

let stage: ServiceStage;
let off: Staged;
let sets: Staged;
let blog: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  off = await stage.stage.bootstrapped();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  blog = await stage.formula('blog');
});

const rowOf = async (id: string) => (await stage.ctx.db.select().from(units).where(eq(units.id, id)))[0]!;
const serviceOf = async (name: string) =>
  (await stage.ctx.db.select().from(services).where(eq(services.name, name)))[0]!;
const roleOf = async (vmId: string) => (await stage.ctx.db.select().from(vmRoles).where(eq(vmRoles.vmId, vmId)))[0];
const revisionOf = async (vmId: string) =>
  (await stage.ctx.db.select().from(unitHeads).where(eq(unitHeads.vmId, vmId)))[0]?.revision;
const remove = (ids: string[], how?: UnitRemoval, ctx = stage.ctx) =>
  ctx.db.transaction((tx) => removeUnitsIn(tx, ctx, ids, how));
const dismiss = async (ids: string[], force = false, ctx = stage.ctx) => {
  const rows = await ctx.db.select().from(units).where(inArray(units.id, ids));
  await ctx.db.transaction((tx) => dismissUnits(tx, ctx, rows, force));
};

/** Declares a service, and returns the rows of its units; with `seen`, as if an agent had fetched them. */
async function given(
  name: string,
  { staged = off, count = 1, seen = false, to = undefined as number | undefined } = {},
) {
  const { units: shown } = await stage.declare(staged, name, {
    ...blog,
    units: count,
    ...(to !== undefined && { to }),
  });
  const names = shown.map(({ unit }) => unit);
  if (seen) await stage.ctx.db.update(units).set({ agentSince: stage.ctx.now }).where(inArray(units.name, names));
  return stage.ctx.db.select().from(units).where(inArray(units.name, names)).orderBy(units.number);
}

describe('a unit that is removed', () => {
  test.each([
    ['an agent has fetched it', true, true, true],
    ['no agent has fetched it', false, true, false],
    ['its agent confirmed it', true, false, false],
  ])('counts as left behind on the machine by force only: %s', async (_, seen, forced, left) => {
    const [unit] = await given(`forced-${seen}-${forced}`, { seen });
    await remove([unit!.id], { forced });
    expect(await rowOf(unit!.id)).toMatchObject({ life: 'dying', removedAt: stage.ctx.now, forced: left });
  });

  test('keeps the time at which its removal began, and no failure or decision', async () => {
    const [unit] = await given('timed', { seen: true });
    await dismiss([unit!.id]);
    const failure = { hook: 'stop', run: uuid(), failures: 1, outcome: 'failed' as const, exitCode: 1, since: '' };
    const resolution = { run: failure.run, how: 'retry' as const, at: '', by: 'Ada' };
    const set = { failing: { unit: failure }, resolutions: [resolution] };
    await stage.ctx.db.update(units).set(set).where(eq(units.id, unit!.id));
    const later = stage.stage.after(60);
    await remove([unit!.id], {}, later);
    expect(await rowOf(unit!.id)).toMatchObject({
      ...{ dyingAt: stage.ctx.now, removedAt: later.now, failing: {}, resolutions: [] },
    });
  });

  test('is removed once', async () => {
    const [unit] = await given('once');
    await remove([unit!.id]);
    const revision = await revisionOf(unit!.vmId);
    await remove([unit!.id], { forced: true }, stage.stage.after(60));
    await remove([]);
    await dismiss([unit!.id], true, stage.stage.after(60));
    expect(await rowOf(unit!.id)).toMatchObject({ removedAt: stage.ctx.now });
    expect(await revisionOf(unit!.vmId)).toBe(revision);
  });

  test('has no hook that runs and no open port', async () => {
    const [unit, other] = await given('busy', { count: 2, seen: true });
    for (const { id, name, vmId } of [unit!, other!]) {
      const begin = { phase: 'begin' as const, hook: 'install', attempt: 1, formula: '1.0.0.0', timeoutSeconds: 9 };
      await beginRun(stage.ctx, { vmId, unit: name, run: uuid() }, begin);
      const port = { unitId: id, protocol: 'tcp' as const, port: 80, openedRun: uuid(), openedAt: stage.ctx.now };
      await stage.ctx.db.insert(unitPorts).values(port);
    }
    await remove([unit!.id], { forced: true });
    const outcomes = async ({ id }: { id: string }) =>
      (await stage.ctx.db.select().from(hookRuns).where(eq(hookRuns.unitId, id))).map(({ outcome }) => outcome);
    expect([await outcomes(unit!), await outcomes(other!)]).toEqual([['interrupted'], ['running']]);
    const ports = await stage.ctx.db.select().from(unitPorts);
    expect(ports.map(({ unitId }) => unitId)).toEqual([other!.id]);
  });
});

describe('the machine of a unit that is removed', () => {
  test('goes with availability sets, unless it gets another unit', async () => {
    const [gone, kept] = await given('machines', { staged: sets, count: 2 });
    await remove([gone!.id]);
    await remove([kept!.id], { keepsMachines: true });
    expect([await roleOf(gone!.vmId), await roleOf(kept!.vmId)]).toMatchObject([
      { state: 'deleting' },
      { state: 'ready' },
    ]);
  });

  test('stays without availability sets', async () => {
    const [unit] = await given('staying');
    await remove([unit!.id]);
    expect(await roleOf(unit!.vmId)).toMatchObject({ state: 'ready' });
  });

  test('goes with its last unit in a model that is being destroyed', async () => {
    const doomed = await stage.stage.bootstrapped();
    const [first] = await given('last', { staged: doomed });
    const machine = (await roleOf(first!.vmId))?.machine;
    const [, second] = await given('last', { staged: doomed, count: 2, to: machine! });
    await stage.ctx.db.execute(sql`update models set life = 'destroying' where name = ${doomed.model}`);
    await remove([first!.id]);
    expect(await roleOf(first!.vmId)).toMatchObject({ state: 'ready' });
    await remove([second!.id]);
    expect(await roleOf(first!.vmId)).toMatchObject({ state: 'deleting' });
  });
});

describe('a unit that is dismissed', () => {
  test('leaves with a new turn, and a repeated request changes neither its turn nor its time', async () => {
    const [unit] = await given('dismissed', { seen: true });
    await dismiss([unit!.id]);
    const leaving = await rowOf(unit!.id);
    expect(leaving).toMatchObject({ life: 'dying', dyingAt: stage.ctx.now, removedAt: null });
    expect(leaving.turn).toBeGreaterThan(unit!.turn);
    await dismiss([unit!.id], false, stage.stage.after(60));
    expect(await rowOf(unit!.id)).toEqual(leaving);
    await dismiss([unit!.id], true);
    expect(await rowOf(unit!.id)).toMatchObject({ removedAt: stage.ctx.now, forced: true });
  });

  test.each([
    ['no agent has fetched it (EN-52)', false, false, false],
    ['its VM was deleted', true, true, false],
    ['the operator forces it (EN-53)', true, false, true],
  ])('is removed immediately if %s', async (_, seen, isDeleted, force) => {
    const [unit] = await given(`free-${seen}-${isDeleted}-${force}`, { seen });
    const deletedAt = isDeleted ? stage.ctx.now : null;
    await stage.ctx.db.update(vms).set({ deletedAt }).where(eq(vms.id, unit!.vmId));
    await dismiss([unit!.id], force);
    expect(await rowOf(unit!.id)).toMatchObject({ removedAt: stage.ctx.now, forced: force });
  });
});

describe('a service', () => {
  const end = async (name: string) => {
    const { id } = await serviceOf(name);
    await stage.ctx.db.transaction((tx) => endServices(tx, stage.ctx, [id, id]));
    return (await serviceOf(name)).removedAt !== null;
  };
  const die = (name: string) =>
    stage.ctx.db.update(services).set({ life: 'dying', dyingAt: stage.ctx.now }).where(eq(services.name, name));

  test('ends when it is being removed and has no unit left', async () => {
    const [unit] = await given('ending');
    await remove([unit!.id]);
    expect(await end('ending'), 'without units it stays').toBe(false);
    const [second] = await given('ending');
    await die('ending');
    expect(await end('ending'), 'it has a unit').toBe(false);
    await remove([second!.id]);
    expect((await serviceOf('ending')).removedAt).toEqual(stage.ctx.now);
  });

  test('does not end before its relations', async () => {
    const web = await stage.formula('web', '1.0.0.0', { metadata: { requires: { db: { interface: 'sql' } } } });
    const db = await stage.formula('sql', '1.0.0.0', { metadata: { provides: { db: { interface: 'sql' } } } });
    await stage.declare(off, 'front', { ...web, units: 0 });
    await stage.declare(off, 'store', { ...db, units: 0 });
    await addRelation(stage.ctx, { model: off.model, endpoints: ['front', 'store'] });
    await die('front');
    expect(await end('front')).toBe(false);
    await stage.ctx.db.execute(sql`update relations set removed_at = now()`);
    expect([await end('front'), await end('store')]).toEqual([true, false]);
  });

  test('that an interrupted request left is ended by the repair, which viewers cannot start', async () => {
    await stage.declare(off, 'interrupted', { ...blog, units: 0 });
    await die('interrupted');
    await expect(mendUnits(stage.viewer)).rejects.toMatchObject({ kind: 'forbidden' });
    await mendUnits(stage.ctx);
    expect((await serviceOf('interrupted')).removedAt).toEqual(stage.ctx.now);
  });
});

test('EN-54 the units of a lost machine are replaced in their order; those that leave and those unseen are not', async () => {
  const [first] = await given('yard', { count: 1, seen: true });
  const { vmId } = first!;
  const to = (await roleOf(vmId))?.machine ?? 0;
  await given('yard', { count: 3, seen: true, to });
  await given('attic', { count: 1, seen: true, to });
  const [unseen] = await given('zoo', { count: 1, to });
  const [leaving] = await given('leaver', { count: 1, seen: true, to });
  await dismiss([leaving!.id]);
  await stage.ctx.db.transaction((tx) => replaceLostUnits(tx, stage.ctx, vmId));
  const entries = await stage.ctx.db
    .select({ details: auditEntries.details })
    .from(auditEntries)
    .where(and(eq(auditEntries.action, 'unit.replace'), eq(auditEntries.vmId, vmId)))
    .orderBy(auditEntries.id);
  expect(entries.map(({ details }) => details)).toEqual([
    { unit: 'attic/0', replacement: 'attic/1' },
    ...[0, 1, 2].map((number) => ({ unit: `yard/${number}`, replacement: `yard/${number + 3}` })),
  ]);
  expect(await rowOf(first!.id)).toMatchObject({ forced: true, removedAt: stage.ctx.now });
  expect(await rowOf(leaving!.id)).toMatchObject({ removedAt: stage.ctx.now });
  expect(await rowOf(unseen!.id)).toEqual(unseen);
  const before = await stage.ctx.db.$count(units);
  await stage.ctx.db.transaction((tx) => replaceLostUnits(tx, stage.ctx, vmId));
  expect(await stage.ctx.db.$count(units), 'the new units are unseen').toBe(before);
});
