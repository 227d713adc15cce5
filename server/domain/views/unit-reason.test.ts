import { afterAll, beforeAll, expect, test } from 'vitest';
import { foldHealth } from '#server/domain/health/index.ts';
import { readUnitConcerns } from '#server/domain/services/index.ts';
import { UnitStage } from '#server/domain/services/testing/unit-stage.ts';
import { getInstanceView, readFleetRows } from './index.ts';

let stage: UnitStage;
beforeAll(async () => {
  stage = await UnitStage.open();
});
afterAll(() => stage.close());

test('EN-81 lists and the view of a VM name the unit, its hook and the exit code as the reason', async () => {
  const unit = await stage.unit(await stage.service('blog'));
  await unit.look();
  await unit.agent.call('/reports', { method: 'POST', body: '{}' });
  await unit.run('install', { exitCode: 3 }, { attempt: 3 });
  await foldHealth(stage.ctx, new Date(), { readConcerns: readUnitConcerns });
  const { items } = await readFleetRows(stage.ctx, { vmIds: [unit.vmId] });
  expect(items[0]).toMatchObject({
    health: 'failed',
    reason: { extension: unit.name, handler: null, cause: 'exit', command: 'install', exitCode: 3 },
  });
  expect(await getInstanceView(stage.ctx, { vmId: unit.vmId })).toMatchObject({
    health: 'failed',
    units: { unit: unit.name, health: 'failed', cause: 'exit', hook: 'install', exitCode: 3 },
  });
});
