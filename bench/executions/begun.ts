import { setTimeout as delay } from 'node:timers/promises';
import { queueExecution } from '#server/domain/executions/index.ts';
import { Connection, type HttpReply } from '../load/connection.ts';
import { holdPolls } from '../load/held-polls.ts';
import { randomFrom } from '../load/schedule.ts';
import { callOnce, waker, watchCommits } from '../sections/held.ts';
import { alternate, type Bench, type Figure, figureOf, median } from '../sections/section.ts';
import { plan, systemContext, vmIdOf } from './bench-plan.ts';
import { resultOf } from './cycles.ts';

const heldPolls = 1_000;
const perRound = 30;

/** Measures the time from the commit that queues an execution until the portal knows that its Body has begun. */
export async function begun({ deployment, agents, rounds }: Bench): Promise<Figure> {
  const { services } = deployment;
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const { host, port } = gateway;
  const count = Math.min(heldPolls, agents.count);
  await callOnce(deployment, agents);
  const polls = await holdPolls({ host, port, agents, count });
  const calls = new Connection(host, port);
  const call = (...[n, method, path, body]: Parameters<typeof agents.execution>): Promise<HttpReply> =>
    new Promise((resolve) => calls.send(agents.execution(n, method, path, body), resolve));
  const committed = watchCommits(services);
  const random = randomFrom(count);
  const begin = async (): Promise<number> => {
    const n = 1 + Math.floor(random() * count);
    const vmId = await vmIdOf(services.db.$client, n);
    const announced = polls.nextExecution(n);
    await queueExecution(systemContext(services), { vmId, plan: JSON.parse(plan) });
    const from = committed();
    await announced;
    const { id } = JSON.parse((await call(n, 'GET', 'next')).body) as { id: string };
    await call(n, 'PUT', `${id}/progress`, '{"run":1,"state":"received","sentMsAgo":0}');
    await call(n, 'PUT', `${id}/progress`, '{"run":1,"state":"running","sentMsAgo":0}');
    const taken = performance.now() - from;
    await call(n, 'PUT', `${id}/result`, resultOf(id));
    return taken;
  };
  const wake = await waker(services, polls, count, committed);
  const times = async (measure: () => Promise<number>): Promise<number> => {
    const taken: number[] = [];
    for (let n = 0; n < perRound; n += 1) {
      taken.push(await measure());
      await delay(10);
    }
    return median(taken);
  };
  try {
    await delay(2_000);
    await times(begin);
    const measured = await alternate(
      rounds,
      () => times(begin),
      () => times(wake),
    );
    return figureOf(
      {
        what: `Execution queued → begun, ${count} polls held, p50`,
        unit: 'ms',
        against: 'commit → long poll answered, p50',
        target: { kind: 'at most', value: 3, of: 'ratio' },
      },
      measured,
    );
  } finally {
    calls.close();
    polls.close();
  }
}
