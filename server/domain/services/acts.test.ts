import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, unitHeads } from '#db/schema/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { getModel } from '#server/domain/topology/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { readActs } from '#server/testing/acts.ts';
import {
  addUnits,
  destroyModel,
  getService,
  getUnit,
  listServices,
  removeMachine,
  removeService,
  removeUnit,
  resolveModel,
  resolveUnit,
  setService,
} from './index.ts';
import { ServiceStage } from './testing/service-stage.ts';

let stage: ServiceStage;
let sets: Staged;
let blog: { formula: string; version: string };

beforeAll(async () => {
  stage = await ServiceStage.open();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  blog = await stage.formula('blog');
  await stage.formula('blog', '1.1.0.0');
});

/** Returns the entries of the activity log that an act writes about services and units. */
async function entriesOf(act: () => Promise<unknown>) {
  const { rows } = await stage.ctx.db.execute<{ last: string | null }>(sql`select max(id) as last from audit_entries`);
  await act();
  const entries = await readActs(stage.ctx.db, sql`${auditEntries.id} > ${Number(rows[0]?.last ?? 0)}`);
  return entries
    .filter(({ action }) => /^(?:service|unit|hook)\./.test(action))
    .map(({ action, before, after, details }) => ({ action, before, after, details }));
}

const revisionOf = async (vmId: string) => {
  const [head] = await stage.ctx.db.select().from(unitHeads).where(eq(unitHeads.vmId, vmId));
  return head?.revision ?? 0;
};

/** Returns by how much the revision of a VM’s units increases during an act. */
async function raisedBy(vmId: string, act: () => Promise<unknown>): Promise<number> {
  const before = await revisionOf(vmId);
  await act();
  return (await revisionOf(vmId)) - before;
}

describe('the activity log', () => {
  test('names the service and its units when it is deployed', async () => {
    const entries = await entriesOf(() =>
      stage.declare(sets, 'logged', { ...blog, units: 2, settings: { title: 'Mine' } }),
    );
    expect(entries).toMatchObject([
      {
        action: 'service.deploy',
        after: { service: 'logged', version: '1.0.0.0', settings: { title: 'Mine' }, hasProtectedSettings: false },
        details: { service: 'logged', formula: blog.formula },
      },
      { action: 'unit.add', details: { unit: 'logged/0' } },
      { action: 'unit.add', details: { unit: 'logged/1' } },
    ]);
  });

  test('has what changed before and after, and only whether protected settings changed', async () => {
    const protectedSettings = { password: 'hunter2-in-the-log' };
    const request = { ...blog, version: '1.1', exposed: true, settings: { title: 'New' }, protectedSettings };
    const entries = await entriesOf(() => stage.declare(sets, 'logged', request));
    expect(entries).toMatchObject([
      {
        action: 'service.update',
        before: { formulaVersion: '1.0.0.0', settingsVersion: 1, exposed: false, settings: { title: 'Mine' } },
        after: { formulaVersion: '1.1.0.0', settingsVersion: 2, exposed: true, settings: { title: 'New' } },
        details: { service: 'logged', protectedChanged: true },
      },
    ]);
    expect(await stage.dump('audit_entries')).not.toContain('hunter2');
  });

  test('has nothing about a declaration that changes nothing or is rejected', async () => {
    expect(await entriesOf(() => stage.declare(sets, 'logged', { ...blog, version: '1.1', units: 2 }))).toEqual([]);
    const rejected = () => stage.declare(sets, 'logged', { ...blog, version: '9.9' }).catch(() => null);
    expect(await entriesOf(rejected)).toEqual([]);
  });

  test('has removals and decisions', async () => {
    const { units } = await stage.deploy(sets, 'decided', { ...blog, units: 2 });
    const [first, second] = units;
    if (first === undefined || second === undefined) throw new Error('two units were declared');
    const run = await stage.run(first, 'install', 1);
    const input = { model: sets.model, unit: first.unit, run };
    expect(await entriesOf(() => resolveUnit(stage.ctx, { ...input, retry: true }))).toMatchObject([
      { action: 'hook.retry', details: { unit: 'decided/0', hook: 'install', run } },
    ]);
    expect(await entriesOf(() => resolveUnit(stage.ctx, { ...input, retry: true }))).toEqual([]);
    expect(await entriesOf(() => resolveModel(stage.ctx, { model: sets.model, retry: false }))).toMatchObject([
      { action: 'hook.skip', details: { unit: 'decided/0', hook: 'install', run } },
    ]);
    const remove = (force: boolean) => removeUnit(stage.ctx, { model: sets.model, unit: second.unit, force });
    expect(await entriesOf(() => remove(false))).toMatchObject([
      { action: 'unit.remove', details: { unit: 'decided/1', force: false } },
    ]);
    expect(await entriesOf(() => remove(false)), 'a second request').toEqual([]);
    expect(await entriesOf(() => remove(true))).toMatchObject([{ details: { force: true } }]);
    const removal = { model: sets.model, service: 'decided', force: true };
    expect(await entriesOf(() => removeService(stage.ctx, removal))).toMatchObject([
      { action: 'service.remove', details: { service: 'decided', units: 1, force: true } },
    ]);
  });
});

test('each act raises the revision of the units of the VMs that it concerns, and of the model', async () => {
  const { units } = await stage.deploy(sets, 'raised', { ...blog, units: 2 });
  const [first, second] = units;
  if (first === undefined || second === undefined) throw new Error('two units were declared');
  const declare = (more: object) => () => stage.declare(sets, 'raised', { ...blog, ...more });
  expect(await raisedBy(first.vmId, declare({}))).toBe(0);
  expect(await raisedBy(first.vmId, declare({ exposed: true }))).toBe(1);
  expect(await raisedBy(first.vmId, declare({ timeouts: { install: 60 } }))).toBe(1);
  expect(await raisedBy(first.vmId, declare({ settings: { a: 1 } }))).toBe(1);
  expect(await raisedBy(first.vmId, declare({ units: 3 }))).toBe(0);
  const before = await getModel(stage.ctx, sets);
  const remove = () => removeUnit(stage.ctx, { model: sets.model, unit: first.unit });
  expect(await raisedBy(second.vmId, remove)).toBe(0);
  expect((await getModel(stage.ctx, sets)).revision).toBeGreaterThan(before.revision);
  expect(await raisedBy(first.vmId, () => stage.look(first.vmId))).toBe(0);
  const force = () => removeUnit(stage.ctx, { model: sets.model, unit: first.unit, force: true });
  expect(await raisedBy(first.vmId, force)).toBeGreaterThan(0);
});

test('viewers read services and units, and can do nothing else', async () => {
  const { model } = sets;
  const { viewer: ctx } = stage;
  const unit = 'logged/0';
  for (const read of [
    () => listServices(ctx, { model }),
    () => getService(ctx, { model, service: 'logged' }),
    () => getUnit(ctx, { model, unit }),
  ]) {
    await expect(read()).resolves.toBeDefined();
  }
  const run = '0198c2f4-7b1e-7c3a-9d20-5a1f0b6e4c11';
  for (const act of [
    () => setService(ctx, { model, service: 'logged', ...blog }),
    () => addUnits(ctx, { model, service: 'logged', count: 1 }),
    () => removeService(ctx, { model, service: 'logged' }),
    () => removeUnit(ctx, { model, unit }),
    () => resolveUnit(ctx, { model, unit, run, retry: true }),
    () => resolveModel(ctx, { model, retry: true }),
    () => removeMachine(ctx, { model, machine: 0 }),
    () => destroyModel(ctx, { model, confirm: model }),
  ]) {
    await expect(act()).rejects.toEqual(new DomainError('forbidden', 'forbidden', { params: { role: 'operator' } }));
  }
});
