import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { recordChanges } from '#server/domain/changes/index.ts';
import { pauseRollout } from '#server/domain/rollouts/index.ts';
import type { Deployment } from '../deployment/deployment.ts';
import { Latencies } from '../load/latencies.ts';
import { type Bench, type Figure, median } from '../sections/section.ts';
import {
  beginSteps,
  bulkOf,
  contextAt,
  endRollouts,
  extension,
  givenRunning,
  liftLimits,
  newSettings,
  SimulatedClock,
} from './given-rollout.ts';
import { storeDeliveries, storeFirstGoals, storeHealth, storeHealthyFleet } from './stored-reports.ts';

const maxOpen = 10_000;
const maxRecalled = 2_000;
/** Milliseconds between two changes of health, and how often their outcome is looked up. */
const changeMs = 25;
const lookMs = 20;
const patienceMs = 60_000;

/** Starts the worker, which from then on runs to the end, and waits until it evaluated the health that is due. */
export async function startIdleWorker({ deployment }: Pick<Bench, 'deployment'>): Promise<void> {
  const client = deployment.services.db.$client;
  await storeHealthyFleet(client);
  await deployment.startWorker();
}

/** Measures the time from a change of health until the step is decided, with many open steps. */
export async function decisionRows(bench: Bench): Promise<Figure[]> {
  const { deployment, agents, rounds, seconds } = bench;
  const { services } = deployment;
  const client = services.db.$client;
  await liftLimits(services);
  const count = Math.min(maxOpen, agents.count);
  const { rows } = await client.query<{ id: string }>('select id from vms order by id limit $1', [count]);
  const vmIds = rows.map(({ id }) => id);
  const clock = new SimulatedClock();
  const id = await givenRunning(services, bulkOf(newSettings(), { ids: vmIds }), clock);
  await beginSteps(services, clock, id, count);
  await storeDeliveries(client, vmIds, new Date());
  await storeHealth(
    client,
    extension,
    vmIds.map((vmId) => ({ vmId, health: 'progressing' })),
    new Date(),
  );
  // Commands run for longer than the measurement, so that only changes of health decide a step.
  await client.query(`update rollout_steps set due_at = now() + interval '1 hour' where rollout_id = $1`, [id]);
  await client.query(`update rollouts set due_at = now() where id = $1`, [id]);
  await deployment.startWorker();
  await settled(client, id);
  const latencies = await watchDecisions(deployment, id, vmIds, rounds * seconds);
  await endRollouts(client);
  const { p50, p99 } = latencies.percentiles();
  return [
    {
      what: `Health changed → step decided, ${count} open, p99`,
      unit: 'ms',
      ours: p99,
      yardstick: null,
      ratio: null,
      target: { kind: 'at most', value: 2_000, of: 'value' },
      rounds: [{ ours: p99, yardstick: null }],
      note: `p50 ${p50.toFixed(0)} ms, ${latencies.count} changes, one every ${changeMs} ms`,
    },
  ];
}

/** Waits until the worker saw that every step of the rollout was delivered. */
async function settled(client: pg.Pool, id: string): Promise<void> {
  const open = async (): Promise<number> => {
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::int as n from rollout_steps
        where rollout_id = $1 and state = 'inFlight' and delivered_at is null`,
      [id],
    );
    return rows[0]?.n ?? 0;
  };
  await waitFor(async () => (await open()) === 0);
}

async function waitFor(isReached: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await isReached())) {
    if (performance.now() - began > patienceMs) throw new Error('The worker did not do it in time.');
    await delay(lookMs);
  }
  return performance.now() - began;
}

/** Changes the health of one VM after the other, and records when their steps are decided. */
async function watchDecisions(
  { services }: Deployment,
  id: string,
  vmIds: readonly string[],
  seconds: number,
): Promise<Latencies> {
  const client = services.db.$client;
  const latencies = new Latencies();
  const open = new Map<string, number>();
  const look = async (): Promise<void> => {
    const { rows } = await client.query<{ vm_id: string }>(
      `select vm_id from rollout_steps
        where rollout_id = $1 and vm_id = any($2::uuid[]) and state not in ('inFlight', 'soaking')`,
      [id, [...open.keys()]],
    );
    for (const { vm_id } of rows) {
      latencies.record(performance.now() - (open.get(vm_id) ?? 0));
      open.delete(vm_id);
    }
  };
  const until = performance.now() + seconds * 1_000;
  let next = 0;
  for (; performance.now() < until && next < vmIds.length; next += 1) {
    const vmId = vmIds[next] ?? '';
    await storeHealth(client, extension, [{ vmId, health: 'healthy' }], new Date());
    open.set(vmId, performance.now());
    await services.db.transaction((tx) => recordChanges(tx, 'fleet', [vmId]));
    await delay(changeMs);
    await look();
  }
  await waitFor(async () => {
    await look();
    return open.size === 0;
  });
  return latencies;
}

/** Measures the time from a pause until every goal state that no agent fetched was taken back. */
export async function pauseRows(bench: Bench): Promise<Figure[]> {
  const { deployment, agents, rounds } = bench;
  const { services } = deployment;
  const client = services.db.$client;
  await liftLimits(services);
  const count = Math.min(maxRecalled, agents.count);
  const { rows } = await client.query<{ id: string }>('select id from vms order by id limit $1', [count]);
  await storeFirstGoals(client);
  await startIdleWorker(bench);
  const taken: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const clock = new SimulatedClock();
    const id = await givenRunning(services, bulkOf(newSettings(), { ids: rows.map((row) => row.id) }), clock);
    const inFlight = async (): Promise<number> => {
      const found = await client.query<{ n: number }>(
        `select count(*)::int as n from rollout_steps where rollout_id = $1 and state = 'inFlight'`,
        [id],
      );
      return found.rows[0]?.n ?? 0;
    };
    await waitFor(async () => (await inFlight()) === count);
    const began = performance.now();
    await pauseRollout(contextAt(services, new Date()), { id });
    await waitFor(async () => (await inFlight()) === 0);
    taken.push((performance.now() - began) / 1_000);
    await endRollouts(client);
  }
  return [
    {
      what: `Pause → last undelivered goal state taken back, ${count} in flight`,
      unit: 's',
      ours: median(taken),
      yardstick: null,
      ratio: null,
      target: { kind: 'at most', value: 4, of: 'value' },
      rounds: taken.map((ours) => ({ ours, yardstick: null })),
    },
  ];
}
