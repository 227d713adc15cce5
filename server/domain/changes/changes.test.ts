import { randomUUID } from 'node:crypto';
import { asc, eq, inArray, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changes, healthChecks, vms } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import type { Listening } from '#server/platform/wakes/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import {
  changesChannel,
  clearChanges,
  dropHealthChecks,
  markForgotten,
  markHealthChecksDue,
  recordChange,
  recordChanges,
  scheduleHealthChecks,
} from './index.ts';

let services: Services;
let listening: Listening;
const heard: string[] = [];

beforeAll(async () => {
  services = await testServices();
  await new Promise<void>((resolve) => {
    const listener = { heard: (_: string, payload: string) => void heard.push(payload), lost: () => {}, back: resolve };
    listening = services.wakes.listen([changesChannel], listener);
  });
});
afterAll(() => listening.close());

async function createVm(): Promise<string> {
  const operator = await testContext({ services, role: 'operator' });
  return (await registerVm(operator, { name: `vm-${randomUUID().slice(0, 8)}` })).id;
}

const stored = (keys: readonly string[]) =>
  services.db
    .select({ topic: changes.topic, key: changes.key })
    .from(changes)
    .where(inArray(changes.key, [...keys]))
    .orderBy(asc(changes.id));
const later = new Date('2099-01-01T00:00:00Z');
const dueAt = async (vmId: string) =>
  (await services.db.select().from(healthChecks).where(eq(healthChecks.vmId, vmId)))[0]?.dueAt ?? null;
const schedule = (...vmIds: string[]) =>
  services.db.transaction((tx) =>
    scheduleHealthChecks(
      tx,
      vmIds.map((vmId) => ({ vmId, dueAt: later })),
    ),
  );
const hears = (topic: string, key: string) => expect.poll(() => heard).toContain(JSON.stringify({ topic, key }));

test('changes of more than 100 VMs are stored and notified once, and each VM is marked', async () => {
  const vmIds = await Promise.all(Array.from({ length: 101 }, createVm));
  await schedule(...vmIds);
  await services.db.delete(changes);
  await services.db.transaction((tx) => recordChanges(tx, 'vm', vmIds));
  expect(await services.db.select({ topic: changes.topic, key: changes.key }).from(changes)).toEqual([
    { topic: 'vm', key: '*' },
  ]);
  await hears('vm', '*');
  const marked = await services.db.select().from(healthChecks).where(inArray(healthChecks.vmId, vmIds));
  expect(marked.filter((row) => row.dueAt < later)).toHaveLength(101);
});

test('a change is stored, and open pages are notified once it is committed', async () => {
  await services.db.transaction((tx) => recordChange(tx, 'handler', 'Acme.Lab.First'));
  expect(await stored(['Acme.Lab.First'])).toEqual([{ topic: 'handler', key: 'Acme.Lab.First' }]);
  await hears('handler', 'Acme.Lab.First');
});

test('a change that is rolled back is neither stored nor notified', async () => {
  const failing = services.db.transaction(async (tx) => {
    await recordChange(tx, 'handler', 'Acme.Lab.Undone');
    throw new Error('undone');
  });
  await expect(failing).rejects.toThrow('undone');
  await services.db.transaction((tx) => recordChange(tx, 'handler', 'Acme.Lab.Done'));
  await hears('handler', 'Acme.Lab.Done');
  expect(heard).not.toContain(JSON.stringify({ topic: 'handler', key: 'Acme.Lab.Undone' }));
  expect(await stored(['Acme.Lab.Undone'])).toEqual([]);
});

test('each of several keys has one row and one notification, even if the key is given twice', async () => {
  const keys = ['Acme.Lab.B', 'Acme.Lab.A', 'Acme.Lab.B'];
  await services.db.transaction((tx) => recordChanges(tx, 'publisher', keys));
  expect((await stored(keys)).map(({ key }) => key)).toEqual(['Acme.Lab.A', 'Acme.Lab.B']);
  await hears('publisher', 'Acme.Lab.B');
  expect(heard.filter((payload) => payload.includes('Acme.Lab.B'))).toHaveLength(1);
});

test('an empty list of keys changes nothing', async () => {
  const before = await services.db.$count(changes);
  await services.db.transaction((tx) => recordChanges(tx, 'vm', []));
  expect(await services.db.$count(changes)).toBe(before);
});

test('a change of a VM makes its health due; a change of another kind does not', async () => {
  const vmId = await createVm();
  await schedule(vmId);
  await services.db.transaction((tx) => recordChange(tx, 'output', vmId));
  expect(await dueAt(vmId)).toEqual(later);
  await services.db.transaction((tx) => recordChange(tx, 'vm', vmId));
  expect(await dueAt(vmId)).toEqual(new Date(0));
});

test('a VM without a health check gets a check with its next change, or from the worker', async () => {
  const [changed, forgotten, deleted] = await Promise.all([createVm(), createVm(), createVm()]);
  await services.db.transaction((tx) => dropHealthChecks(tx, [changed, forgotten, deleted]));
  await services.db.update(vms).set({ deletedAt: new Date() }).where(eq(vms.id, deleted));
  expect(await dueAt(changed)).toBeNull();
  await services.db.transaction((tx) => recordChange(tx, 'vm', changed));
  expect(await dueAt(changed)).toEqual(new Date(0));
  expect(await markForgotten(services)).toBe(1);
  expect(await dueAt(forgotten)).toEqual(new Date(0));
  expect(await dueAt(deleted)).toBeNull();
  expect(await markForgotten(services)).toBe(0);
});

test('checks are marked, scheduled and dropped only for the named VMs', async () => {
  const [one, other] = await Promise.all([createVm(), createVm()]);
  await schedule(one, other);
  await markHealthChecksDue(services, [one, randomUUID()]);
  expect([await dueAt(one), await dueAt(other)]).toEqual([new Date(0), later]);
  await services.db.transaction((tx) => dropHealthChecks(tx, []));
  await services.db.transaction((tx) => dropHealthChecks(tx, [one]));
  expect([await dueAt(one), await dueAt(other)]).toEqual([null, later]);
  await schedule(one);
  expect(await dueAt(one)).toBeNull();
});

test('transactions that change the same VMs in a different order do not deadlock', async () => {
  const vmIds = await Promise.all(Array.from({ length: 5 }, createVm));
  const orders = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? vmIds : vmIds.toReversed()));
  await Promise.all(
    orders.map((keys, index) =>
      index % 4 === 3
        ? markHealthChecksDue(services, keys)
        : services.db.transaction((tx) => recordChanges(tx, 'vm', keys)),
    ),
  );
  expect((await stored(vmIds)).length).toBeGreaterThanOrEqual(15 * vmIds.length);
});

test('changes are kept for an hour', async () => {
  const now = new Date('2030-01-01T12:00:00Z');
  const at = (minutes: number) => sql`${new Date(now.getTime() - minutes * 60_000).toISOString()}::timestamptz`;
  await services.db.insert(changes).values([
    { topic: 'handler', key: 'old', at: at(61) },
    { topic: 'handler', key: 'kept', at: at(60) },
    { topic: 'handler', key: 'new', at: at(0) },
  ]);
  const older = await services.db.$count(changes, sql`${changes.at} < ${at(60)}`);
  expect(await clearChanges(services, now)).toBe(older);
  expect((await stored(['old', 'kept', 'new'])).map(({ key }) => key)).toEqual(['kept', 'new']);
});
