import { afterAll, beforeAll, expect, test } from 'vitest';
import { foldHealth } from '#server/domain/health/index.ts';
import { givenProbe } from '#server/testing/agent-door.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { removeUnitsIn } from '../units/index.ts';
import { readUnitConcerns } from './read-unit-health.ts';

let stage: UnitStage;
let service: string;
beforeAll(async () => {
  stage = await UnitStage.open();
  service = await stage.service('blog');
});
afterAll(() => stage.close());

/** Evaluates due VMs at this many seconds from now, and returns what lists show of the unit's VM. */
async function shown({ vmId, agent }: StagedUnit, { seconds = 0, calls = true } = {}) {
  if (calls) await agent.call('/reports', { method: 'POST', body: '{}' });
  const now = new Date(Date.now() + seconds * 1000);
  await stage.ctx.db.execute(`update health_checks set due_at = 'epoch' where vm_id = '${vmId}'`);
  await foldHealth(stage.ctx, now, { readConcerns: readUnitConcerns });
  const { rows } = await stage.ctx.db.execute(`
    select h.health, c.subject, c.health as worst, c.cause, c.since, k.due_at from vm_health h
      join health_checks k on k.vm_id = h.vm_id left join vm_concerns c on c.vm_id = h.vm_id
     where h.vm_id = '${vmId}'`);
  return rows[0] as {
    health: string;
    subject: string | null;
    worst: string;
    cause: string;
    since: string;
    due_at: string;
  };
}

test('EN-81 the worst of several units is shown, and the health of the VM is the worst of units and extensions', async () => {
  const first = await stage.unit(service);
  const second = await stage.unit(service, { agent: first.agent });
  await first.start();
  await second.start();
  expect(await shown(first)).toMatchObject({ health: 'healthy', subject: null });
  await second.run('config-changed', { exitCode: 1 }, { attempt: 3 });
  await stage.settings(service, 5, '{}');
  await stage.ctx.db.execute(`update units set settings_version = 5 where id = '${second.id}'`);
  expect(await shown(first)).toMatchObject({ health: 'failed', subject: second.name, cause: 'exit' });
  await givenProbe(stage.ctx, first.vmId);
  expect((await shown(first)).health, 'an extension that is installing').toBe('failed');
  await stage.ctx.db.transaction((tx) => removeUnitsIn(tx, stage.ctx, [second.id], { forced: true }));
  expect(await shown(first)).toMatchObject({ health: 'progressing', subject: null });
});

test('a concern keeps its time while its health is the same', async () => {
  const unit = await stage.unit(service);
  await unit.look();
  const waiting = await shown(unit);
  await unit.run('install', { exitCode: 1 });
  expect(await shown(unit)).toMatchObject({ worst: 'progressing', cause: 'retry', since: waiting.since });
  await unit.run('install', { exitCode: 1 }, { attempt: 3 });
  expect((await shown(unit)).since > waiting.since).toBe(true);
});

test('a VM is evaluated again when a hook will be late, and when its agent stops responding', async () => {
  const unit = await stage.unit(service);
  await unit.look();
  const { due_at: dueAt } = await shown(unit);
  const seconds = (Date.parse(dueAt) - Date.now()) / 1000;
  expect(seconds).toBeGreaterThan(60);
  expect(seconds).toBeLessThan(310);
  expect(await shown(unit, { seconds: 700, calls: false })).toMatchObject({
    ...{ health: 'unresponsive', worst: 'unresponsive', cause: 'silent' },
  });
});

test('without a reader of units, what is stored of them stays', async () => {
  const unit = await stage.unit(service);
  await unit.look();
  const before = await shown(unit);
  await stage.ctx.db.execute(`update health_checks set due_at = 'epoch' where vm_id = '${unit.vmId}'`);
  await foldHealth(stage.ctx, new Date());
  const { rows } = await stage.ctx.db.execute(`select health, since from vm_concerns where vm_id = '${unit.vmId}'`);
  expect(rows).toEqual([{ health: before.worst, since: before.since }]);
});
