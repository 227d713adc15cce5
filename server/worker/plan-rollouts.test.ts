import { eq, sql } from 'drizzle-orm';
import { pino } from 'pino';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { givenPlanning, rowOf, setRollout } from '#server/domain/rollouts/testing/given-draft.ts';
import type { OpenServices } from '#server/process/services.ts';
import { testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { planRollouts } from './plan-rollouts.ts';

let services: OpenServices;
const workers: (() => Promise<void>)[] = [];
const start = () => workers.push(planRollouts(services).stop);

beforeAll(async () => {
  services = { ...(await testServices()), log: pino({ level: 'silent' }), close: async () => {} };
  for (const version of ['1.0.0.0', '1.1.0.0']) await givenVersion(services.db, { version });
  const vm = await givenVm(services);
  await vm.declare('probe');
});

afterEach(async () => {
  await Promise.all(workers.splice(0).map((end) => end()));
});

const within = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 20_000, interval: 25 });
const becomes = (id: string, values: object) =>
  within(async () => expect(await rowOf(services, id)).toMatchObject(values));
const hint = (id: string) => services.db.transaction((tx) => recordChange(tx, 'rollout', id));

/** Runs `act` while a plan waits with everything but its result, because another transaction has locked the rollout. */
async function duringPlan(id: string, act: (tx: Transaction, backend: number) => Promise<void>): Promise<void> {
  await services.db.transaction(async (tx) => {
    await tx.select().from(rollouts).where(eq(rollouts.id, id)).for('update');
    await hint(id);
    const pid = await within(async () => {
      const { rows } = await services.db.execute<{ pid: number }>(sql`select pid from pg_locks where not granted`);
      expect(rows).toHaveLength(1);
      return rows[0]?.pid ?? 0;
    });
    await act(tx, pid);
  });
}

test('a worker plans a rollout after a hint, and checks it after the start', async () => {
  start();
  const id = await givenPlanning(services);
  await hint(id);
  await becomes(id, { state: 'planned', members: 1 });
  await setRollout(services, id, { state: 'checking' });
  await hint(id);
  await becomes(id, { state: 'running' });
});

test('a worker that starts plans what waits since before', async () => {
  const id = await givenPlanning(services);
  start();
  await becomes(id, { state: 'planned' });
});

test('a rollout whose worker is killed in the middle of planning is planned by another', async () => {
  const id = await givenPlanning(services);
  const { stop } = planRollouts(services);
  await duringPlan(id, async (_, pid) => {
    const stopped = stop();
    await services.db.execute(sql`select pg_terminate_backend(${pid})`);
    await stopped;
    expect(await rowOf(services, id)).toMatchObject({ state: 'planning', plan: null, members: 0 });
  });
  start();
  await becomes(id, { state: 'planned', members: 1 });
});

test('while one worker plans a rollout, another plans the next', async () => {
  const [first, second] = [await givenPlanning(services), await givenPlanning(services)];
  start();
  await duringPlan(first, async () => {
    start();
    await becomes(second, { state: 'planned' });
  });
  await becomes(first, { state: 'planned' });
});

test('a worker plans again after the database closed its connection', async () => {
  const id = await givenPlanning(services);
  start();
  await duringPlan(id, async (_, pid) => {
    await services.db.execute(sql`select pg_terminate_backend(${pid})`);
  });
  await becomes(id, { state: 'planned', members: 1 });
});

test('a rollout whose plan fails unexpectedly is a draft again, and the next one is planned', async () => {
  const failing = await givenPlanning(services);
  const next = await givenPlanning(services);
  const { definition } = await rowOf(services, failing);
  await setRollout(services, failing, { definition: { ...definition, select: { ids: ['no id'] } } });
  start();
  await becomes(next, { state: 'planned' });
  await becomes(failing, { state: 'draft', why: [{ code: 'plan_failed', params: { cause: 'unforeseen' } }] });
});
