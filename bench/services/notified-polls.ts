import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Agents } from '../load/agents.ts';
import { Connection, type HttpReply, headerOf } from '../load/connection.ts';
import { alternate, type Bench, type Figure, figureOf, median } from '../sections/section.ts';
import type { World } from './world.ts';

/** A gateway passes on fewer changes of a relation that changes more than 60 times a minute, so there are few flushes. */
const perRound = 3;
const maxRounds = 12;
const server = join(import.meta.dirname, '..', 'yardsticks', 'bare-fan-out-server.ts');

/** Measures the time from the answer to a flush until all held polls of the relation's other units are answered. */
export async function notifiedPolls(
  bench: Bench,
  world: World,
  vmIds: readonly string[],
  numbers: ReadonlyMap<string, number>,
): Promise<Figure> {
  const { deployment, agents, rounds } = bench;
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const { providers, requirers, relations } = await world.related('notified', {
    providers: vmIds.slice(0, 1),
    requirers: vmIds.slice(1, 1_000),
  });
  const [writer] = providers;
  if (writer === undefined) throw new Error('no unit');
  const bare = await startBare(deployment.databaseUrl);
  const ours = await hold(
    gateway,
    requirers.map(({ vmId }) => numbers.get(vmId) ?? 0),
    pollOf(agents),
  );
  const yardstick = await hold(
    { host: '127.0.0.1', port: bare.port },
    requirers.map((_, n) => n),
    bareRequest,
  );
  let value = 0;
  const times = async (polls: Held, tell: () => Promise<unknown>): Promise<number> => {
    const taken: number[] = [];
    for (let n = 0; n < perRound; n += 1) {
      await polls.allHeld();
      const answered = polls.allAnswered();
      await tell();
      const began = performance.now();
      taken.push((await answered) - began);
    }
    return median(taken);
  };
  const flushed = () => {
    value += 1;
    return world.flushMs(writer, relations[0] ?? 0, 1_000_000 + value);
  };
  const notified = () => world.client.query(`select pg_notify('yardstick_fan_out', '')`);
  try {
    const measured = await alternate(
      Math.min(rounds, maxRounds),
      () => times(ours, flushed),
      () => times(yardstick, notified),
    );
    return figureOf(
      {
        ...{ what: `Flush answered → the last of ${requirers.length} held polls answered, p50`, unit: 'ms' },
        ...{ against: 'a bare process that answers as many when notified' },
        target: { kind: 'at most', value: 3, of: 'ratio' },
      },
      measured,
    );
  } finally {
    ours.close();
    yardstick.close();
    bare.stop();
  }
}

type Request = (n: number, last: HttpReply | null) => string;

const bareRequest: Request = () => 'GET / HTTP/1.1\r\nHost: bench\r\n\r\n';

/** Polls with the stamp of the last answer. The first poll has an old stamp, so its answer comes without waiting. */
const pollOf =
  (agents: Agents): Request =>
  (n, last) => {
    const stamp = (last === null ? '' : headerOf(last.head, 'annex-units')) || '"old.0.0"';
    return agents.poll(n, 60).replace('\r\n\r\n', `\r\nAnnex-Units: ${stamp}\r\n\r\n`);
  };

interface Held {
  /** Resolves when no poll has been answered for a while, so all are held. */
  allHeld(): Promise<void>;
  /** Resolves with the time when each poll has been answered once from now on. */
  allAnswered(): Promise<number>;
  close(): void;
}

async function hold(at: { host: string; port: number }, numbers: readonly number[], request: Request): Promise<Held> {
  const connections = numbers.map(() => new Connection(at.host, at.port));
  let missing = new Set<number>();
  let done: (at: number) => void = () => {};
  let [last, isOver] = [performance.now(), false];
  const ask = (index: number, before: HttpReply | null): void => {
    connections[index]?.send(request(numbers[index] ?? 0, before), (reply) => {
      if (isOver) return;
      last = performance.now();
      if (missing.delete(index) && missing.size === 0) done(last);
      ask(index, reply);
    });
  };
  for (const index of numbers.keys()) {
    ask(index, null);
    if (index % 250 === 249) await delay(50);
  }
  return {
    async allHeld() {
      while (performance.now() - last < 300) await delay(50);
    },
    allAnswered() {
      missing = new Set(numbers.keys());
      return new Promise((resolve) => {
        done = resolve;
      });
    },
    close() {
      isOver = true;
      for (const connection of connections) connection.close();
    },
  };
}

async function startBare(databaseUrl: string): Promise<{ port: number; stop(): void }> {
  const child = fork(server, [databaseUrl], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('The bare process did not start.');
    }),
  ])) as [{ port: number }];
  return { port: message.port, stop: () => void child.kill() };
}
