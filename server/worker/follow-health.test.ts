import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { changes, vmHealth } from '#db/schema/index.ts';
import { updateVm } from '#server/domain/vms/index.ts';
import type { OpenServices } from '#server/process/services.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { followHealth, yieldMs } from './follow-health.ts';

let services: OpenServices;
const workers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }), close: async () => {} };
  workers.push(followHealth(services), followHealth(services));
});

afterAll(async () => {
  for (const stop of workers) await stop();
});

const within = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 10_000, interval: 25 });
const nameOf = async (vmId: string) =>
  (await services.db.select().from(vmHealth).where(eq(vmHealth.vmId, vmId)))[0]?.name;

test('with two workers, one shows a change within a second, and open pages are notified once', async () => {
  const vm = await givenVm(services);
  const began = Date.now();
  await within(async () => expect(await nameOf(vm.vmId)).toBe(vm.name));
  expect(Date.now() - began).toBeLessThan(5_000);
  const notified = await services.db.select().from(changes).where(eq(changes.topic, 'fleet'));
  expect(notified.filter(({ key }) => key === vm.vmId)).toHaveLength(1);
});

test('a worker continues when the database is available again', async () => {
  const vm = await givenVm(services);
  await within(async () => expect(await nameOf(vm.vmId)).toBe(vm.name));
  await services.db
    .execute(sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    .catch(() => {});
  const context = await testContext({ services });
  await within(() => updateVm(context, { vmId: vm.vmId, name: `${vm.name}-again` }));
  await within(async () => expect(await nameOf(vm.vmId)).toBe(`${vm.name}-again`));
});

test('passes follow each other while the machine has time; otherwise reports have priority', () => {
  expect(yieldMs(400, 260)).toBe(0);
  expect(yieldMs(400, 200)).toBe(0);
  expect(yieldMs(800, 200)).toBe(2_000);
  expect(yieldMs(400, 160)).toBeCloseTo(300);
  expect(yieldMs(2_400, 0)).toBe(2_000);
});
