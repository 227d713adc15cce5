import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { foldHealth } from '#server/domain/health/index.ts';
import { readUnitConcerns } from '#server/domain/services/index.ts';
import { UnitStage } from '#server/domain/services/testing/unit-stage.ts';
import { getInstanceView, listCountedModels, listVmUnits, readFleetRows } from './index.ts';

let stage: UnitStage;
beforeAll(async () => {
  stage = await UnitStage.open();
});
afterAll(() => stage.close());

test('EN-81 lists and the view of a VM name the unit, its hook and the exit code as the reason', async () => {
  const unit = await stage.unit(await stage.service('blog'));
  await unit.look();
  await unit.agent.call('/reports', { method: 'POST', body: '{}' });
  const reason = { id: 'no_space', params: [] };
  await unit.run('install', { exitCode: 3, reason }, { attempt: 3 });
  await foldHealth(stage.ctx, new Date(), { readConcerns: readUnitConcerns });
  const { items } = await readFleetRows(stage.ctx, { vmIds: [unit.vmId] });
  expect(items[0]).toMatchObject({
    health: 'failed',
    reason: { extension: unit.name, handler: null, cause: 'exit', command: 'install', exitCode: 3 },
  });
  expect(await getInstanceView(stage.ctx, { vmId: unit.vmId })).toMatchObject({
    health: 'failed',
    units: {
      unit: unit.name,
      health: 'failed',
      cause: 'exit',
      hook: 'install',
      exitCode: 3,
      message: { text: 'no_space' },
    },
    explanation: {
      ...{ question: 'notDone', extension: unit.name, act: null },
      lead: { code: 'lead.failed.exit', values: { name: unit.name, command: 'install', exit: 3 } },
      links: [
        { kind: 'touch', holds: true },
        { kind: 'delivery', title: { code: 'unit.seen' } },
        { kind: 'cause', title: { code: 'unit.exit' }, detail: { code: 'unit.attempts', values: { count: 3 } } },
        { kind: 'deadline', title: { code: 'unit.again', values: { seconds: 20 } } },
      ],
    },
  });
  const listed = (await listVmUnits(stage.ctx, { vmId: unit.vmId })).items;
  expect(listed, 'the units on its page').toMatchObject([{ unit: unit.name, reason: { text: 'no_space' } }]);
  await unit.begin(uuid(), 'install', { attempt: 4 });
  const { explanation } = await getInstanceView(stage.ctx, { vmId: unit.vmId });
  expect(explanation?.links.at(-1), 'the next attempt runs').toMatchObject({
    ...{ kind: 'wait', status: 'progressing', title: { code: 'unit.runs' }, detail: { code: 'unit.since' } },
  });
});

test('a model in the list has the number of its services and of its units by health', async () => {
  const service = await stage.service('counted');
  const [alone, first] = [await stage.unit(service), await stage.unit(service)];
  const second = await stage.unit(service, { agent: first.agent });
  for (const unit of [alone, first, second]) {
    await unit.start();
    await unit.agent.call('/reports', { method: 'POST', body: '{}' });
  }
  const counted = async () => {
    await foldHealth(stage.ctx, new Date(), { readConcerns: readUnitConcerns });
    return (await listCountedModels(stage.ctx)).items.find(({ name }) => name === 'prod');
  };
  const before = await counted();
  expect(before).toMatchObject({ services: 2, units: { failed: 1, healthy: 3 } });
  await second.run('config-changed', { exitCode: 1 }, { attempt: 3 });
  await stage.settings(service, 2, '{}');
  await stage.ctx.db.execute(`update units set settings_version = 2 where id = '${second.id}'`);
  await stage.ctx.db.execute(`update health_checks set due_at = 'epoch'`);
  expect(await counted(), 'units that share a VM are evaluated').toMatchObject({ units: { failed: 2, healthy: 2 } });
});
