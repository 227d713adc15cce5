import { eq, inArray } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { units } from '#db/schema/index.ts';
import { holdVm } from '#server/domain/holds/index.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { addRelation } from '../index.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { readOffers } from './read-offers.ts';
import { readUnitConcerns, readUnitHealth } from './read-unit-health.ts';

let stage: UnitStage;
beforeAll(async () => {
  stage = await UnitStage.open();
});
afterAll(() => stage.close());

/** The health of a unit this many seconds from now, while its agent keeps calling. */
async function healthAt(unit: StagedUnit, seconds: number) {
  const now = new Date(Date.now() + seconds * 1000);
  const at = `'${now.toISOString()}'::timestamptz`;
  return stage.ctx.db.transaction(async (tx) => {
    await tx.execute(`insert into agent_presence (vm_id, last_seen_at, next_expected_at, counter)
      values ('${unit.vmId}', ${at}, ${at}, 0) on conflict (vm_id) do update
      set last_seen_at = excluded.last_seen_at, next_expected_at = excluded.next_expected_at`);
    const [found] = await readUnitHealth(tx, inArray(units.id, [unit.id]), now);
    const { health, cause, command, changesAt } = found ?? {};
    return { health, cause, command, changesAt };
  });
}

test('a hook that is due is late after its own time limit, unless a hold pauses deadlines', async () => {
  const service = await stage.service('slow', { metadata: { timeouts: { install: 60 } } });
  const unit = await stage.unit(service);
  await unit.look();
  expect(await healthAt(unit, 30)).toMatchObject({ health: 'progressing', cause: 'waiting' });
  expect(await healthAt(unit, 90)).toMatchObject({ health: 'degraded', cause: 'late', command: 'install' });
  await holdVm(stage.ctx, { vmId: unit.vmId, reason: 'maintenance' });
  expect(await healthAt(unit, 900)).toMatchObject({ health: 'progressing', cause: 'waiting', changesAt: null });
});

test('a run is overdue a minute after its time limit, and a late end is accepted', async () => {
  const unit = await stage.unit(await stage.service('stuck'));
  await unit.look();
  const run = uuid();
  await unit.begin(run, 'install', { timeoutSeconds: 120 });
  expect(await healthAt(unit, 170)).toMatchObject({ health: 'progressing', cause: null });
  expect(await healthAt(unit, 190)).toMatchObject({ health: 'failed', cause: 'deadline', command: 'install' });
  expect((await unit.end(run)).status).toBe(200);
  expect(await healthAt(unit, 190)).toMatchObject({ health: 'progressing', cause: 'waiting' });
});

test('EN-82 a unit that lacks a relation which its formula requires is degraded, not failed', async () => {
  const metadata = { requires: { db: { interface: 'store' }, cache: { interface: 'cache', optional: true } } };
  const unit = await stage.unit(await stage.service('blog', { metadata }));
  const alone = { name: 'db', interface: 'store', offeredBy: [] };
  await unit.start();
  expect(await healthAt(unit, 1)).toMatchObject({ health: 'degraded', cause: 'relation', command: 'db' });
  const missing = () =>
    stage.ctx.db.transaction(async (tx) => readOffers(tx, await readUnitHealth(tx, eq(units.id, unit.id), new Date())));
  expect((await missing()).get(unit.id)).toEqual(alone);
  await stage.service('store', {
    metadata: { provides: { feed: { interface: 'store' }, web: { interface: 'http' } } },
  });
  expect((await missing()).get(unit.id)).toEqual({ ...alone, offeredBy: ['store:feed'] });
  await addRelation(stage.ctx, { model: 'prod', endpoints: ['blog', 'store'] });
  expect(await healthAt(unit, 1)).toMatchObject({ health: 'healthy', cause: null });
  expect(await missing()).toEqual(new Map());
});

test('the health of many units takes as many statements as that of one', async () => {
  const service = await stage.service('many', { metadata: { requires: { db: { interface: 'x' } } } });
  const all = await Promise.all(Array.from({ length: 5 }, () => stage.unit(service)));
  const count = async (vmIds: string[]) => {
    const statements = await statementsOf(() =>
      stage.ctx.db.transaction((tx) => readUnitConcerns(tx, vmIds, new Date())),
    );
    return statements.length;
  };
  const one = await count(all.slice(0, 1).map(({ vmId }) => vmId));
  expect(await count(all.map(({ vmId }) => vmId))).toBe(one);
  const found = await stage.ctx.db.transaction((tx) =>
    readUnitConcerns(
      tx,
      all.map(({ vmId }) => vmId),
      new Date(),
    ),
  );
  expect([...found.values()].map(({ concern }) => concern?.health)).toEqual(Array(5).fill('unknown'));
});
