import { eq } from 'drizzle-orm';
import pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { rollouts } from '#db/schema/index.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { pauseRollout } from '../pause-rollout.ts';
import { type RolloutStage, rolloutStage } from '../testing/rollout-stage.ts';
import { passOnce, passRollout } from './pass-rollout.ts';

let stage: RolloutStage;

beforeEach(async () => {
  stage = await rolloutStage();
});

/** Makes the statement at a position fail, as if the process had ended there. Returns whether it was reached. */
async function killedAt(position: number, run: () => Promise<unknown>): Promise<boolean> {
  const { query } = pg.Client.prototype;
  let seen = 0;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [config] = args as [string | { text?: string }];
    const text = typeof config === 'string' ? config : (config.text ?? '');
    if (seen < position && !/^\s*rollback\s*$/i.test(text)) seen += 1;
    else return Reflect.apply(query, this, args);
    if (seen !== position) return Reflect.apply(query, this, args);
    return Promise.reject(new Error('killed'));
  } as typeof query;
  try {
    await run();
    return seen >= position;
  } catch {
    return true;
  } finally {
    pg.Client.prototype.query = query;
  }
}

/** Lets a worker look and ends it at every statement, one after the other, until nothing is left to do. */
async function passWithKills(seconds: number, check: () => Promise<void>): Promise<number> {
  for (let position = 1; position < 300; position += 1) {
    let isAtRest = false;
    const run = async () => {
      isAtRest = (await passOnce(stage.services, stage.at(seconds))) === null;
    };
    const wasKilled = await killedAt(position, run);
    await check();
    if (!wasKilled) {
      if (isAtRest) return position;
      position = 0;
    }
  }
  throw new Error('the worker does not come to rest');
}

/** Creates VMs, each in an availability set. */
async function givenSets(count: number): Promise<GivenVm[]> {
  const vms: GivenVm[] = [];
  for (let n = 0; n < count; n += 1) {
    vms.push(...(await stage.givenFleet(1, { tags: { 'availability-set': `set-${n}` } })));
  }
  return vms;
}
const reservedVms = async () => (await stage.reservations()).map(([, vmId]) => vmId).sort();

test('RO-10 JU-22 a worker that ends between any two statements publishes nothing twice, loses nothing and keeps no set closed', async () => {
  const vms = await givenSets(3);
  const id = await stage.givenRollout(vms);
  const check = async () => {
    const steps = await stage.steps(id);
    for (const vm of vms) {
      const published = await stage.published(id, vm);
      expect(published.length).toBe(steps.some(({ vmId }) => vmId === vm.vmId) ? 1 : 0);
    }
    const counts = await stage.counts(id);
    expect(counts.inFlight ?? 0).toBe(steps.length);
    expect(await reservedVms()).toEqual(steps.map(({ vmId }) => vmId).sort());
  };
  await passWithKills(1, check);
  expect(await stage.counts(id)).toEqual({ members: 3, inFlight: 3 });
  await pauseRollout(stage.as(2), { id });
  await passWithKills(2, async () => {});
  for (const vm of vms) {
    expect((await stage.published(id, vm)).map(({ cause }) => cause.action)).toEqual([
      'rollout.step',
      'rollout.recall',
    ]);
  }
  expect(await stage.counts(id)).toEqual({ members: 3, queued: 3 });
  expect(await reservedVms()).toEqual([]);
}, 120_000);

test('RO-10 two workers on one rollout publish one goal state for each VM', async () => {
  const vms = await stage.givenFleet(8);
  const id = await stage.givenRollout(vms, { stepsPerSecond: 2 });
  for (let second = 1; second <= 8; second += 1) {
    await Promise.all([1, 2, 3].map(() => passRollout(stage.services, stage.at(second))));
    await stage.pass(second);
  }
  expect(await stage.counts(id)).toEqual({ members: 8, inFlight: 8 });
  for (const vm of vms) expect(await stage.published(id, vm)).toHaveLength(1);
}, 60_000);

test('an unexpected error of one VM skips this VM and no other, and releases its availability set', async () => {
  const vms = (await givenSets(4)) as [GivenVm, ...GivenVm[]];
  const [odd, ...others] = vms;
  const id = await stage.givenRollout(vms);
  await stage.db.execute(`
    create function refuse() returns trigger language plpgsql as $$
      begin if new.vm_id = '${odd.vmId}' then raise 'disk full'; end if; return new; end $$`);
  await stage.db.execute('create trigger refuse before insert on goal_states for each row execute function refuse()');
  await stage.pass(1);
  expect(await stage.step(id, odd)).toMatchObject({ state: 'skipped', cause: 'refused:unforeseen' });
  for (const vm of others) expect(await stage.step(id, vm)).toMatchObject({ state: 'inFlight' });
  expect(await stage.counts(id)).toEqual({ members: 4, inFlight: 3, skipped: 1 });
  expect(await reservedVms()).toEqual(others.map(({ vmId }) => vmId).sort());
});

test('a rollout whose passes fail does not keep others waiting', async () => {
  const [one, two] = (await stage.givenFleet(2)) as [GivenVm, GivenVm];
  const broken = await stage.givenRollout([one]);
  const { definition } = await stage.rollout(broken);
  await stage.db
    .update(rollouts)
    .set({ definition: { ...definition, rings: [] } })
    .where(eq(rollouts.id, broken));
  const id = await stage.givenRollout([two]);
  await stage.pass(1);
  expect(await stage.counts(id)).toEqual({ members: 1, inFlight: 1 });
  expect(await stage.rollout(broken)).toMatchObject({ state: 'running', dueAt: stage.at(11) });
});
