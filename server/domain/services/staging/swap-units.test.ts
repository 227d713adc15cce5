import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hookRuns } from '#db/schema/index.ts';
import { afterOf, receiveUnits } from '#protocol/receive-units.ts';
import { newUnitRecord, type UnitRecord } from '#protocol/unit-record.ts';
import type { UnitState } from '#protocol/unit-state.ts';
import { longDescribe, longTest } from '#server/testing/long.ts';
import { addRelation, getRelation, getUnitState, removeRelation } from '../index.ts';
import { StagedWorld, type WorldUnit } from './testing/staged-world.ts';

let first: StagedWorld;
let world: StagedWorld;
let blog: WorldUnit;
let old: WorldUnit;
let fresh: WorldUnit;

beforeAll(async () => {
  first = await StagedWorld.open();
});

/** `blog/0` requires `mysql`, of which `mysql/0` is in Production and `mysql/1` in Staging. */
beforeEach(async () => {
  world = await first.next();
  [blog = blog] = await world.deploy('blog', 1);
  [old = old] = await world.deploy('mysql', 1);
  await world.relate();
  [fresh = fresh] = await world.stageUnits(1, '1.1');
  await world.settleAll([blog, old, fresh, blog]);
});

const members = async ({ unit, vmId }: WorldUnit) => {
  const goal = (await world.stage.look(vmId)).find((one) => one.unit === unit);
  return goal?.relations.flatMap((relation) => relation.members.filter(({ left }) => !left).map((one) => one.unit));
};
const everyone = async () => [await members(blog), await members(old), await members(fresh)];

longDescribe('a unit in Staging', () => {
  test('is not seen by units that require it, and does not see them', async () => {
    expect(await everyone()).toEqual([['mysql/0'], ['blog/0'], []]);
    expect(await world.dueOf([blog, old, fresh])).toEqual([]);
  });

  test('of a relation that is added later stays outside too', async () => {
    await removeRelation(world.stage.ctx, { model: world.model, number: 1 });
    await world.settleAll([blog, old, fresh]);
    const { number } = await addRelation(world.stage.ctx, { model: world.model, endpoints: ['blog', 'mysql'] });
    expect(await everyone()).toEqual([['mysql/0'], ['blog/0'], []]);
    expect(await getRelation(world.stage.ctx, { model: world.model, number })).toMatchObject({ units: 2 });
  });

  test('sees the members of relations that its own service requires', async () => {
    const { units } = await world.add({ service: 'blog', slot: 'staging' });
    const [{ unit, machine } = { unit: '', machine: null }] = units;
    if (machine === null) throw new Error('the unit has a machine');
    await world.stage.enroll(machine);
    const staged = { unit, vmId: machine.vmId };
    expect(await world.settle(staged)).toEqual([
      ...['install', 'config-changed', 'start', 'store-relation-joined mysql/0', 'store-relation-changed mysql/0'],
    ]);
    expect(await world.dueOf([old])).toEqual([
      {
        unit: 'mysql/0',
        hooks: [expect.objectContaining({ hook: 'db-relation-joined', remoteUnits: ['blog/1'] }), expect.anything()],
      },
    ]);
  });
});

describe('JU-28 a swap', () => {
  test('makes units join and depart, on both sides', async () => {
    await world.swap();
    expect(await everyone()).toEqual([['mysql/1'], [], ['blog/0']]);
    expect(await world.settle(blog)).toEqual([
      ...['store-relation-joined mysql/1', 'store-relation-changed mysql/1', 'store-relation-departed mysql/0'],
    ]);
    expect(await world.settle(old)).toEqual(['config-changed', 'db-relation-departed blog/0']);
    expect(await world.settle(fresh)).toEqual([
      ...['config-changed', 'db-relation-joined blog/0', 'db-relation-changed blog/0'],
    ]);
  });

  test('gives Production the version of Staging, and the other way round; a second one restores the start', async () => {
    const before = [await world.slots(), await everyone(), (await world.service()).settingsVersion];
    await world.swap();
    expect(await world.slots()).toEqual(['mysql/0 staging 1.0.0.0', 'mysql/1 production 1.1.0.0']);
    expect(await world.service()).toMatchObject({ version: '1.1.0.0', stagedVersion: '1.0.0.0' });
    await world.swap();
    expect([await world.slots(), await everyone(), (await world.service()).settingsVersion]).toEqual(before);
    expect(await world.dueOf([blog, old, fresh])).toEqual([]);
  });

  longTest('and back makes units join again that departed, with the settings that they had', async () => {
    await world.swap();
    await world.settleAll([blog, old, fresh]);
    await world.swap();
    expect(await world.settle(blog)).toEqual([
      ...['store-relation-joined mysql/0', 'store-relation-changed mysql/0', 'store-relation-departed mysql/1'],
    ]);
    expect(await world.settle(old)).toEqual([
      ...['config-changed', 'db-relation-joined blog/0', 'db-relation-changed blog/0'],
    ]);
    expect(await world.settle(fresh)).toEqual(['config-changed', 'db-relation-departed blog/0']);
  });

  longTest('of the only deployment leaves units without the service, until they are in Production again', async () => {
    const alone = await first.next();
    world = alone;
    [blog = blog] = await alone.deploy('blog', 1);
    [old = old] = await alone.deploy('mysql', 1);
    await alone.relate();
    await alone.settleAll([blog, old, blog]);
    await alone.swap();
    expect(await members(blog)).toEqual([]);
    expect(await alone.service()).toMatchObject({ version: '1.0.0.0', stagedVersion: null });
    await alone.swap();
    expect(await members(blog)).toEqual(['mysql/0']);
  });

  longTest('lets a relation end also for units that a swap moved out of it', async () => {
    await world.swap();
    await removeRelation(world.stage.ctx, { model: world.model, number: 1 });
    await world.settleAll([blog, old, fresh]);
    expect(await getRelation(world.stage.ctx, { model: world.model, number: 1 })).toMatchObject({ state: 'ended' });
  });

  longTest('is named as the cause of the hooks that follow', async () => {
    await world.swap();
    await world.settleAll([blog, old, fresh]);
    const causes = async (unit: WorldUnit) => {
      const rows = await world.stage.ctx.db.select().from(hookRuns).where(eq(hookRuns.vmId, unit.vmId));
      return rows.flatMap(({ hook, cause }) => (cause?.act?.action === 'deployment.swap' ? [hook] : [])).sort();
    };
    expect(await causes(old)).toEqual(['config-changed', 'db-relation-departed']);
    expect(await causes(fresh)).toEqual(['config-changed', 'db-relation-joined']);
    expect(await causes(blog)).toEqual(['store-relation-departed', 'store-relation-joined']);
  });

  test('reaches agents that hold the relation as it was before', async () => {
    const { ctx } = world.stage;
    const records: Record<string, UnitRecord> = {};
    const look = async (held: UnitState | null): Promise<UnitState> => {
      const after = held === null ? '' : afterOf(held);
      const { state } = await getUnitState(ctx, { vmId: old.vmId, epoch: held?.epoch ?? null, after, boot: 'boot-1' });
      return receiveUnits(held, state, (unit) => records[unit] ?? newUnitRecord());
    };
    const present = ({ units }: UnitState) =>
      units.flatMap(({ relations }) => relations.flatMap((one) => one.members.filter(({ left }) => !left)));
    const before = await look(null);
    expect(present(before)).toHaveLength(1);
    await world.swap();
    const during = await look(before);
    expect(present(during)).toEqual([]);
    await world.swap();
    expect(present(await look(during)).map(({ unit }) => unit)).toEqual(['blog/0']);
  });
});

describe('the plan of a swap', () => {
  test('names the units and the hooks that follow, which are due afterwards', async () => {
    const { units, hooks, planHash } = await world.plan();
    expect(units).toEqual([
      { unit: 'mysql/0', to: 'staging' },
      { unit: 'mysql/1', to: 'production' },
    ]);
    await world.swap(planHash);
    expect(sorted(hooks)).toEqual(sorted(await world.dueOf([blog, old, fresh])));
    expect(hooks.map(({ unit }) => unit)).toEqual(['blog/0', 'mysql/0', 'mysql/1']);
    await world.settleAll([blog, old, fresh]);
    const back = await world.plan();
    await world.swap();
    expect(sorted(back.hooks)).toEqual(sorted(await world.dueOf([blog, old, fresh])));
  });

  longTest('is out of date when a unit is staged meanwhile', async () => {
    const { planHash } = await world.plan();
    await world.stageUnits(1);
    await expect(world.swap(planHash)).rejects.toMatchObject({ code: 'plan_moved_on' });
  });

  longTest('names no hook that the swap back takes away again', async () => {
    await world.swap();
    expect((await world.plan()).hooks).toEqual([]);
  });
});

type Hooks = Awaited<ReturnType<StagedWorld['dueOf']>>;
const sorted = (all: Hooks): Hooks =>
  all.map(({ unit, hooks }) => ({ unit, hooks: hooks.toSorted((a, b) => (a.hook < b.hook ? -1 : 1)) }));
