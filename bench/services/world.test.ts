import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { beforeAll, expect, test } from 'vitest';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { World } from './world.ts';

let world: World;
const vmIds = Array.from({ length: 3 }, () => randomUUID());
beforeAll(async () => {
  const services = await testServices();
  await createPublisher(await testContext({ services }), { namespace: 'Meridian.Platform', displayName: 'Bench' });
  await services.db.$client.query(
    `insert into vms (id, name, tags, created_at, created_by)
     select id, 'bench-' || n, '{}', now(), 'test' from unnest($1::uuid[]) with ordinality t(id, n)`,
    [vmIds],
  );
  world = await World.create({ ...services, log: pino({ level: 'silent' }) });
});

test('units of related services take part in each relation, and each flush moves the clock by one', async () => {
  const { providers, requirers, relations } = await world.related(
    'few',
    { providers: vmIds.slice(0, 1), requirers: vmIds.slice(1) },
    2,
  );
  expect([providers, requirers].map((units) => units.map(({ name }) => name))).toEqual([
    ['few-a/0'],
    ['few-b/0', 'few-b/1'],
  ]);
  expect(relations).toHaveLength(2);
  const clocks = async () =>
    (await world.client.query<{ clock: string }>('select clock from relations order by id')).rows.map(({ clock }) =>
      Number(clock),
    );
  expect(await clocks()).toEqual([3, 3]);
  const [unit] = providers;
  if (unit === undefined) throw new Error('no unit');
  for (const value of [1, 2]) expect(await world.flushMs(unit, relations[0] ?? 0, value)).toBeGreaterThan(0);
  expect(await clocks()).toEqual([5, 3]);
});
