import { eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { laneTimes, units } from '#db/schema/index.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { givenProbe } from '#server/testing/agent-door.ts';
import { addRelation } from '../relations/index.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { readUnitHealth } from './read-unit-health.ts';

let stage: UnitStage;
let service: string;
beforeAll(async () => {
  stage = await UnitStage.open();
  service = await stage.service('blog', { metadata: { timeouts: { default: 100 } } });
});
afterAll(() => stage.close());

/** The health of a unit this many seconds from now, while its agent keeps calling. */
async function healthAt(unit: StagedUnit, seconds: number) {
  const now = new Date(Date.now() + seconds * 1000);
  const at = `'${now.toISOString()}'::timestamptz`;
  const [found] = await stage.ctx.db.transaction(async (tx) => {
    await tx.execute(`insert into agent_presence (vm_id, last_seen_at, next_expected_at, counter)
      values ('${unit.vmId}', ${at}, ${at}, 0) on conflict (vm_id) do update
      set last_seen_at = excluded.last_seen_at, next_expected_at = excluded.next_expected_at`);
    return readUnitHealth(tx, eq(units.id, unit.id), now);
  });
  return `${found?.health} ${found?.cause}`;
}

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

describe('a hook that is due', () => {
  test('is not late while a hook of another unit of the VM runs', async () => {
    const unit = await stage.unit(service);
    const other = await stage.unit(service, { agent: unit.agent });
    await unit.look();
    const run = uuid();
    await other.begin(run, 'install', { timeoutSeconds: 3_600 });
    expect(await healthAt(unit, 500)).toBe('progressing waiting');
    await other.end(run);
    expect(await healthAt(unit, 90)).toBe('progressing waiting');
    expect(await healthAt(unit, 500)).toBe('degraded late');
  });

  test('is not late while an execution holds the lane of the VM, nor for the time that it held it', async () => {
    const unit = await stage.unit(service);
    await unit.look();
    await stage.ctx.db.insert(laneTimes).values({ vmId: unit.vmId, takenAt: new Date(), past: [] });
    expect(await healthAt(unit, 500)).toBe('progressing waiting');
    const past: [string, string][] = [[ago(0), ago(-300)]];
    await stage.ctx.db.update(laneTimes).set({ takenAt: null, past }).where(eq(laneTimes.vmId, unit.vmId));
    expect(await healthAt(unit, 350)).toBe('progressing waiting');
    expect(await healthAt(unit, 420)).toBe('degraded late');
  });

  test('is not late while a command of an extension runs, however long, and has its time limit after it', async () => {
    const unit = await stage.unit(service);
    await unit.look();
    await givenProbe(stage.ctx, unit.vmId);
    const report = (state: string, at: string) =>
      stage.ctx.db.execute(`insert into extension_latest (vm_id, name, handler_state, handler_at)
        values ('${unit.vmId}', 'probe', '{"state":"${state}"}', '${at}')
        on conflict (vm_id, name) do update set handler_state = excluded.handler_state, handler_at = excluded.handler_at`);
    await report('installing', ago(0));
    expect(await healthAt(unit, 5_000)).toBe('progressing waiting');
    await report('enabled', ago(-5_000));
    expect(await healthAt(unit, 5_090)).toBe('progressing waiting');
    expect(await healthAt(unit, 5_200)).toBe('degraded late');
  });

  test('has its whole time limit again after a hold', async () => {
    const unit = await stage.unit(service);
    await unit.look();
    await holdVm(stage.ctx, { vmId: unit.vmId, reason: 'maintenance' });
    expect(await healthAt(unit, 5_000)).toBe('progressing waiting');
    await releaseHold({ ...stage.ctx, now: new Date(Date.now() + 1_000_000) }, { vmId: unit.vmId });
    expect(await healthAt(unit, 1_090)).toBe('progressing waiting');
    expect(await healthAt(unit, 1_200)).toBe('degraded late');
  });

  test('is not late while it waits for its next attempt', async () => {
    const unit = await stage.unit(service);
    await unit.run('install', { exitCode: 1 });
    expect(await healthAt(unit, 500)).toBe('progressing retry');
  });

  test('in a relation has its time limit from the change on', async () => {
    const endpoint = { db: { interface: 'store' } };
    const provider = await stage.service('store', { metadata: { provides: endpoint, timeouts: { default: 100 } } });
    const consumer = await stage.service('reader', { metadata: { requires: endpoint, timeouts: { default: 100 } } });
    const { id: relation } = await addRelation(stage.ctx, { model: 'prod', endpoints: ['reader', 'store'] });
    const [store, reader] = [await stage.unit(provider), await stage.unit(consumer)];
    for (const unit of [store, reader]) await unit.start();
    const seen = { relation, remoteUnit: store.name, version: 1 };
    for (const event of ['joined', 'changed']) await reader.run(`db-relation-${event}`, {}, seen);
    expect(await healthAt(reader, 500)).toBe('healthy null');
    const changes = [{ relation, set: { a: '1' }, remove: [] }];
    await store.run('db-relation-joined', { changes }, { relation, remoteUnit: reader.name, version: 1 });
    expect(await healthAt(reader, 50)).toBe('progressing waiting');
    expect(await healthAt(reader, 500)).toBe('degraded late');
  });
});

test('a failure counts only while its hook is due', async () => {
  const endpoint = { feed: { interface: 'x' } };
  const provider = await stage.service('feeder', { metadata: { provides: endpoint } });
  const consumer = await stage.service('eater', { metadata: { requires: endpoint } });
  const { id: relation } = await addRelation(stage.ctx, { model: 'prod', endpoints: ['eater', 'feeder'] });
  const [feeder, eater] = [await stage.unit(provider), await stage.unit(consumer)];
  for (const unit of [feeder, eater]) await unit.start();
  const about = { relation, remoteUnit: feeder.name, version: 1, attempt: 3 };
  await eater.run('feed-relation-joined', { exitCode: 1 }, about);
  expect(await healthAt(eater, 1)).toBe('failed exit');
  // The member leaves before it ever joined, so nothing is due.
  await stage.ctx.db.execute(`update relation_units set state = 'left' where unit_id = '${feeder.id}'`);
  expect(await healthAt(eater, 1)).toBe('healthy null');
});
