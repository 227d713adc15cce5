import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hookRuns } from '#db/schema/index.ts';
import { listRuns } from '../index.ts';
import { UnitStage } from '../testing/unit-stage.ts';
import { clearRuns } from './clear-runs.ts';

let stage: UnitStage;
beforeAll(async () => {
  stage = await UnitStage.open();
});
afterAll(() => stage.close());

test('runs of hooks are kept for 30 days, but not more than 1,000 of a unit; the one that fails is kept', async () => {
  const unit = await stage.unit(await stage.service('blog'));
  const { ctx } = stage;
  const failing = await unit.run('install', { exitCode: 1 });
  const old = new Date(ctx.now.getTime() - 31 * 24 * 60 * 60_000);
  const like = { vmId: unit.vmId, unitId: unit.id, hook: 'start', attempt: 1, formulaVersion: '1.0.0.0' };
  const row = (number: number, begunAt: Date) => ({
    ...{ ...like, id: uuid(), number, begunAt, timeoutSeconds: 300, outcome: 'succeeded' as const },
  });
  await ctx.db.execute(`update hook_runs set begun_at = '${old.toISOString()}' where id = '${failing}'`);
  await ctx.db.insert(hookRuns).values([row(2, old), row(3, ctx.now), row(1_003, ctx.now)]);
  await ctx.db.execute(`update units set run_counter = 1003 where id = '${unit.id}'`);
  expect(await clearRuns(ctx, ctx.now, 30)).toBe(2);
  const { items } = await listRuns(ctx, { model: 'prod', unit: unit.name });
  expect(items.map(({ number }) => number)).toEqual([1_003, 1]);
});
