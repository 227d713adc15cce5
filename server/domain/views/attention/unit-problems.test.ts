import { afterAll, beforeAll, expect, test } from 'vitest';
import { countProblems } from '#server/domain/attention/index.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { readUnitConcerns } from '#server/domain/services/index.ts';
import { type StagedUnit, UnitStage } from '#server/domain/services/testing/unit-stage.ts';
import { ProcessMemory } from '#server/platform/process-memory.ts';
import { listAttention, listAttentionVms, listFleet } from '../index.ts';

let stage: UnitStage;
const units: StagedUnit[] = [];

beforeAll(async () => {
  stage = await UnitStage.open();
  const [blog, store] = [await stage.service('blog'), await stage.service('store')];
  for (const service of [blog, blog, store]) units.push(await stage.unit(service));
  for (const unit of units) {
    await unit.look();
    await unit.agent.call('/reports', { method: 'POST', body: '{}' });
    await unit.run('install', { exitCode: 3 }, { attempt: 3 });
  }
  await foldHealth(stage.ctx, new Date(), { readConcerns: readUnitConcerns });
});
afterAll(() => stage.close());

const list = () => listAttention({ ...stage.ctx, memory: new ProcessMemory() }, {});

test('EN-81 VMs whose units fail in the same hook of a formula with the same exit code are one problem', async () => {
  const { items, vms, open } = await list();
  expect([vms, open, await countProblems(stage.ctx.db)]).toEqual([3, 2, 2]);
  expect(items).toMatchObject([
    {
      ...{ health: 'failed', vms: 2, vm: null },
      extension: {
        ...{ isUnit: true, handler: 'Acme.Lab.blog', name: null, cause: 'exit', command: 'install', exitCode: 3 },
      },
    },
    { vms: 1, vm: { id: units[2]?.vmId }, extension: { handler: 'Acme.Lab.store', name: units[2]?.name } },
  ]);
});

test('the parameters of a problem of units list exactly its VMs, and so does its own list', async () => {
  const [blogs] = (await list()).items;
  expect(Object.fromEntries(new URLSearchParams(blogs?.query))).toEqual({
    ...{ formula: 'Acme.Lab.blog', unitState: 'failed', unitCause: 'exit', hook: 'install', hookExitCode: '3' },
  });
  const expected = units.slice(0, 2).map(({ vmId }) => vmId);
  const { items } = await listAttentionVms(stage.ctx, { key: blogs?.key ?? '' });
  expect(items.map(({ id }) => id).sort()).toEqual(expected.toSorted());
});

test.each([
  [{ formula: 'Acme.Lab.store' }, 1],
  [{ unitState: ['failed' as const] }, 3],
  [{ unitState: ['degraded' as const] }, 0],
  [{ hook: 'install', hookExitCode: 3, unitCause: ['exit' as const] }, 3],
  [{ hook: 'start' }, 0],
  [{ formula: 'Acme.Lab.blog', hookExitCode: 4 }, 0],
])('the list of VMs with the filter %j has %i VMs', async (filter, count) => {
  const { items, matching } = await listFleet(stage.ctx, { ...filter, counted: true });
  expect([items.length, matching]).toEqual([count, count]);
});
