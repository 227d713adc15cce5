import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import type { OpenServices } from '#server/process/services.ts';
import type { Deployment } from '../deployment/deployment.ts';
import { readUsage } from '../deployment/processes.ts';
import { type Agents, extensionNames } from '../load/agents.ts';
import { runClosedLoop } from '../load/closed-loop.ts';
import { holdPolls, type LongPolls } from '../load/held-polls.ts';
import { randomFrom } from '../load/schedule.ts';
import { startListenAlone } from '../yardsticks/listen-alone.ts';
import { alternate, type Bench, type Figure, figureOf, median } from './section.ts';

const most = 10_000;
const wakesPerRound = 50;
/** Time in milliseconds after which a wake-up counts as lost. */
const patienceMs = 30_000;

/** Measures held long polls: their memory, and the time from a commit to the response. */
export async function held({ deployment, agents, rounds, say }: Bench): Promise<Figure[]> {
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const count = Math.min(most, agents.count);
  await callOnce(deployment, agents);
  const pid = gateway.child.pid() ?? 0;
  const before = readUsage(pid).memoryBytes;
  const polls = await holdPolls({ host: gateway.host, port: gateway.port, agents, count });
  const alone = await startListenAlone(deployment.databaseUrl);
  try {
    await delay(5_000);
    const perPoll = (readUsage(pid).memoryBytes - before) / count / 1_000;
    say(`${count} long polls are held`);
    const wake = await waker(deployment.services, polls, count, watchCommits(deployment.services));
    const times = async (measure: () => Promise<number>): Promise<number> => {
      const taken: number[] = [];
      for (let n = 0; n < wakesPerRound; n += 1) {
        taken.push(await measure());
        await delay(10);
      }
      return median(taken);
    };
    const measured = await alternate(
      rounds,
      () => times(wake),
      () => times(alone.measure),
    );
    if (polls.complaints.size > 0) {
      throw new Error(`Long polls failed: ${[...polls.complaints].map(([what, n]) => `${n} × ${what}`).join(', ')}`);
    }
    return [
      figureOf(
        {
          what: `Commit → long poll answered, ${count} held, p50`,
          unit: 'ms',
          against: 'commit → LISTEN alone, p50',
          target: { kind: 'at most', value: 2, of: 'ratio' },
        },
        measured,
      ),
      {
        what: `Memory per held long poll, ${count} held`,
        unit: 'kB',
        ours: perPoll,
        yardstick: null,
        ratio: null,
        target: { kind: 'at most', value: 15, of: 'value' },
        rounds: [{ ours: perPoll, yardstick: null }],
      },
    ];
  } finally {
    polls.close();
    await alone.stop();
  }
}

/**
 * Polls for every VM before the measurement. Otherwise, the data that the gateway caches for every VM would be
 * counted as a cost of held polls.
 */
export async function callOnce(deployment: Deployment, agents: Agents): Promise<void> {
  const [gateway] = deployment.gateways;
  const seconds = 1;
  await runClosedLoop({
    ...{ host: gateway?.host ?? '', port: gateway?.port ?? 0, connections: 64, agents: agents.count, seconds },
    warmUpSeconds: Math.max(2, agents.count / 2_000),
    request: (agent) => agents.poll(agent),
    wanted: [304],
  });
  await delay(2_000);
}

/**
 * Returns a function that changes the goal state of a random VM with the product's verb, and returns the milliseconds
 * from sending the commit to the response to the held poll.
 */
export async function waker(
  services: OpenServices,
  polls: LongPolls,
  count: number,
  committed: () => number,
): Promise<() => Promise<number>> {
  const { rows } = await services.db.$client.query<{ id: string; n: string; handler: string; version: string }>(
    `select a.vm_id as id, substr(a.instance_id, length('bench-') + 1) as n, e.handler, e.version
       from agents a join extensions e on e.vm_id = a.vm_id and e.name = $1`,
    [extensionNames.silent],
  );
  const vms = rows.filter(({ n }) => Number(n) <= count);
  const random = randomFrom(count);
  let turn = 0;
  return async () => {
    turn += 1;
    const vm = vms[Math.floor(random() * vms.length)];
    if (vm === undefined) throw new Error('a fleet without VMs');
    const answered = polls.nextGoalState(Number(vm.n));
    const late = delay(patienceMs, 'late' as const);
    const ctx: Context = {
      ...services,
      actor: systemActor,
      origin: systemOrigin,
      now: new Date(),
      requestId: randomUUID(),
    };
    const { handler, version } = vm;
    const settings = { publicSettings: { retain: turn, at: Date.now() } };
    const goal = { handler, version, state: 'enabled' as const, settings };
    await setExtension(ctx, { vmId: vm.id, name: extensionNames.silent, goal });
    const at = await Promise.race([answered, late]);
    if (at === 'late') throw new Error(`A held poll was not answered within ${patienceMs / 1_000} s of the commit.`);
    return at - committed();
  };
}

/** Returns a function that reads the time at which this process last sent a commit. */
export function watchCommits({ db }: OpenServices): () => number {
  let at = 0;
  db.$client.on('acquire', (client) => {
    const watched = client as unknown as { query: (...args: unknown[]) => unknown; watched?: true };
    if (watched.watched) return;
    watched.watched = true;
    const query = watched.query.bind(client);
    watched.query = (...args) => {
      const [first] = args;
      const text = typeof first === 'string' ? first : (first as { text?: string }).text;
      if (text === 'commit') at = performance.now();
      return query(...args);
    };
  });
  return () => at;
}
