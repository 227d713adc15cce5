import { eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Transaction } from '#db/client.ts';
import { groupReservations, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { type Random, randomOf } from '#server/domain/topology-rules/testing/random.ts';
import { updateVm } from '#server/domain/vms/index.ts';
import { testContext } from '#server/testing/context.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { type Holder, handOver, release, reserve } from './index.ts';

const tag = 'availability-set';
const rollout: Holder = { kind: 'rollout', id: 'r1' };
const service: Holder = { kind: 'service', id: 's1' };

let ctx: Context;
/** Three VMs in each of the groups `web` and `db`. */
const web: string[] = [];
const db: string[] = [];

beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  for (const [group, ids] of [['web', web] as const, ['db', db] as const]) {
    for (let n = 0; n < 3; n += 1) {
      ids.push((await registerVm(ctx, { name: `${group}-${n}`, tags: { [tag]: group } })).id);
    }
  }
});

beforeEach(async () => {
  await ctx.db.delete(groupReservations);
});

const groupOf = (vmId: string) => (web.includes(vmId) ? 'web' : 'db');
const wanted = (vmIds: readonly string[]) => vmIds.map((vmId) => ({ vmId, group: groupOf(vmId) }));
const inTx = <T>(act: (tx: Transaction) => Promise<T>) => ctx.db.transaction(act);
const take = (holder: Holder, vmIds: readonly string[], limit: number | null = 1) =>
  inTx(async (tx) => [...(await reserve(tx, holder, wanted(vmIds), { tag, limit, now: ctx.now }))]);
const give = (holder: Holder, vmIds: readonly string[]) => inTx((tx) => release(tx, holder, vmIds));
const reserved = async () => {
  const rows = await ctx.db.select().from(groupReservations);
  return rows.map(({ vmId, holderId }) => `${[...web, ...db].indexOf(vmId)} ${holderId}`).sort();
};

describe('JU-22 a VM of a group', () => {
  test('is the only one that is out of service, over all holders', async () => {
    const [a, b, c] = web as [string, string, string];
    expect(await take(rollout, [a, b])).toEqual([a]);
    expect(await take(service, [b, c])).toEqual([]);
    expect(await take(service, db)).toEqual([db[0]]);
    await give(rollout, [a]);
    expect(await take(service, [a, b])).toEqual([a]);
    expect(await reserved()).toEqual(['0 s1', '3 s1']);
  });

  test('is not reserved twice, not even by its holder', async () => {
    expect(await take(rollout, web.slice(0, 1), null)).toHaveLength(1);
    expect(await take(service, web.slice(0, 1), null)).toEqual([]);
    expect(await take(rollout, web.slice(0, 1), null)).toEqual([]);
  });

  test('is released only by its holder', async () => {
    await take(rollout, web);
    await give(service, web);
    expect(await reserved()).toEqual(['0 r1']);
    await inTx((tx) => handOver(tx, rollout, service, web));
    await give(rollout, web);
    expect(await reserved()).toEqual(['0 s1']);
    await give(service, web);
    expect(await reserved()).toEqual([]);
  });

  test('is not reserved if the transaction fails', async () => {
    const failing = inTx(async (tx) => {
      await reserve(tx, rollout, wanted(web), { tag, limit: 1, now: ctx.now });
      throw new Error('killed');
    });
    await expect(failing).rejects.toThrow('killed');
    expect(await take(service, web)).toHaveLength(1);
  });

  test('counts for its new group too if the group changes in the meantime', async () => {
    const moving = (await registerVm(ctx, { name: 'moving', tags: { [tag]: 'web' } })).id;
    await inTx((tx) => reserve(tx, rollout, [{ vmId: moving, group: 'web' }], { tag, limit: 1, now: ctx.now }));
    await updateVm(ctx, { vmId: moving, tags: { [tag]: 'db' } });
    expect(await take(service, [...web, ...db])).toEqual([]);
    await give(rollout, [moving]);
    expect((await take(service, [...web, ...db])).sort()).toEqual([web[0], db[0]].sort());
  });

  test('counts by its availability set, whatever its tag says', async () => {
    const role = (await registerVm(ctx, { name: 'role', tags: { [tag]: 'web' } })).id;
    await ctx.db.update(vms).set({ disruptionGroup: 'cloud/juju' }).where(eq(vms.id, role));
    await inTx((tx) => reserve(tx, rollout, [{ vmId: role, group: 'cloud/juju' }], { tag, limit: 1, now: ctx.now }));
    expect(await take(service, web)).toEqual([web[0]]);
  });
});

describe('JU-22 a limit that an operator set', () => {
  test('allows as many VMs of a group, those of other holders included', async () => {
    const [a, b, c] = web as [string, string, string];
    await take(rollout, [a]);
    expect(await take(service, [b, c], 2)).toEqual([b]);
    expect(await take({ kind: 'service', id: 's2' }, [c], 2)).toEqual([]);
    await give(rollout, [a]);
    expect(await take(rollout, [a])).toEqual([]);
    expect(await take({ kind: 'service', id: 's2' }, [c], 2)).toEqual([c]);
  });

  test('may be any number, and others wait for these VMs', async () => {
    expect(await take(rollout, [...web, ...db], null)).toHaveLength(6);
    expect(await take(service, [...web, ...db])).toEqual([]);
    await give(rollout, [...web.slice(1), ...db]);
    expect(await take(service, [...web, ...db])).toEqual([db[0]]);
  });
});

test('JU-22 concurrent requests never take two VMs of a group, and do not wait in a circle', async () => {
  for (let round = 0; round < 20; round += 1) {
    const holders = Array.from({ length: 4 }, (_, n): Holder => ({ kind: 'service', id: `h${n}` }));
    const found = await Promise.all(
      holders.map((holder, n) => take(holder, n % 2 === 0 ? [...web, ...db] : [...db, ...web])),
    );
    expect(found.flat().map(groupOf).sort()).toEqual(['db', 'web']);
    for (const holder of holders) await give(holder, [...web, ...db]);
  }
});

/** A random act of one of three holders, whose limits are 1, 1 and 2. */
async function actAtRandom(random: Random): Promise<void> {
  const holder = random.below(3);
  const of: Holder = { kind: holder === 0 ? 'rollout' : 'service', id: `h${holder}` };
  const some = [...web, ...db].filter(() => random.chance(0.5));
  if (random.chance(0.4)) await give(of, some);
  else await take(of, some, holder === 2 ? 2 : 1);
}

test('JU-22 over random histories, no limit is ever exceeded', async () => {
  let most = 0;
  for (let seed = 0; seed < 4; seed += 1) {
    const random = randomOf(seed);
    for (let count = 0; count < 20; count += 1) {
      await Promise.all([actAtRandom(random), actAtRandom(random), actAtRandom(random)]);
      const rows = await ctx.db.select().from(groupReservations);
      for (const group of ['web', 'db']) {
        const own = rows.filter((row) => row.disruptionGroup === group);
        expect(own.filter(({ holderId }) => holderId !== 'h2').length).toBeLessThanOrEqual(1);
        expect(own.length).toBeLessThanOrEqual(2);
        most = Math.max(most, own.length);
      }
    }
  }
  expect(most).toBe(2);
});

test('a request is one statement for any number of VMs, and none for no VM', async () => {
  const send = (vmIds: readonly string[]) =>
    inTx(async (tx) => {
      await reserve(tx, rollout, wanted(vmIds), { tag, limit: 1, now: ctx.now });
      await release(tx, rollout, vmIds);
    });
  const counts: number[] = [];
  for (const some of [[], web.slice(0, 1), [...web, ...db]]) counts.push((await statementsOf(() => send(some))).length);
  expect(counts).toEqual([0, 2, 2]);
});
