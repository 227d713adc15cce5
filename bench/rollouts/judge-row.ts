import { readUsages } from '../deployment/processes.ts';
import { type Bench, type Figure, median } from '../sections/section.ts';
import {
  beginSteps,
  bulkOf,
  countSteps,
  endRollouts,
  extension,
  givenRunning,
  liftLimits,
  newSettings,
  passNext,
  SimulatedClock,
} from './given-rollout.ts';
import { storeDeliveries, storeHealth, storeHealthyFleet } from './stored-reports.ts';

const most = 10_000;

interface Judged {
  perCpuSecond: number;
  perSecond: number;
  databaseSeconds: number;
}

/** Measures judging: every step of a rollout was delivered and is healthy, so each is judged once. */
export async function judgeRows(bench: Bench): Promise<Figure[]> {
  const { deployment, agents, rounds } = bench;
  await storeHealthyFleet(deployment.services.db.$client);
  await liftLimits(deployment.services);
  const count = Math.min(most, agents.count);
  const clock = new SimulatedClock();
  const measured: Judged[] = [];
  for (let round = 0; round < rounds; round += 1) measured.push(await judge(bench, clock, count));
  const mid = (of: (one: Judged) => number): number => median(measured.map(of));
  return [
    {
      what: `Steps judged per CPU-second of the worker, ${count} open`,
      unit: '/s',
      ours: mid(({ perCpuSecond }) => perCpuSecond),
      yardstick: null,
      ratio: null,
      target: { kind: 'at least', value: 10_000, of: 'value' },
      rounds: measured.map(({ perCpuSecond }) => ({ ours: perCpuSecond, yardstick: null })),
      note:
        `${mid(({ perSecond }) => perSecond).toFixed(0)} steps a second; the database used ` +
        `${mid(({ databaseSeconds }) => (databaseSeconds / count) * 1e6).toFixed(0)} µs of CPU time per step`,
    },
  ];
}

async function judge({ deployment }: Bench, clock: SimulatedClock, count: number): Promise<Judged> {
  const { services, database } = deployment;
  const client = services.db.$client;
  const { rows } = await client.query<{ id: string }>('select id from vms order by id limit $1', [count]);
  const vmIds = rows.map(({ id }) => id);
  const id = await givenRunning(services, bulkOf(newSettings(), { ids: vmIds }), clock);
  await beginSteps(services, clock, id, count);
  await storeDeliveries(client, vmIds, clock.now);
  await storeHealth(
    client,
    extension,
    vmIds.map((vmId) => ({ vmId, health: 'healthy' })),
    clock.now,
  );
  const pids = { database: database.pid() ?? 0 };
  const [cpu, used, began] = [process.cpuUsage(), readUsages(pids).database.cpuSeconds, performance.now()];
  while ((await countSteps(client, id, 'inFlight')) > 0) {
    if (!(await passNext(services, clock))) throw new Error('The rollout waits for something.');
  }
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  const databaseSeconds = readUsages(pids).database.cpuSeconds - used;
  await endRollouts(client);
  return { perCpuSecond: count / ((user + system) / 1e6), perSecond: count / seconds, databaseSeconds };
}
