import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from './connection.ts';
import { Tally } from './tally.ts';

export interface ClosedLoopOptions {
  host: string;
  port: number;
  connections: number;
  /** Number of agents, which take turns. Each agent uses only one connection, so that its calls stay in order. */
  agents: number;
  /** Returns the next request of an agent. */
  request(agent: number): string;
  wanted: readonly number[];
  warmUpSeconds: number;
  seconds: number;
  /** Returns the value of a meter; called at the start and the end of the measurement. */
  meter?(): number;
}

export interface ClosedLoopResult {
  tally: Tally;
  seconds: number;
  /** Successful responses per second. */
  perSecond: number;
  /** How much the meter increased. */
  metered: number;
}

/** Measures the maximum throughput: each connection sends the next request as soon as it has a response. */
export async function runClosedLoop(options: ClosedLoopOptions): Promise<ClosedLoopResult> {
  const { host, port, agents, request, wanted, meter = () => 0 } = options;
  const connections = Math.min(options.connections, agents);
  const tally = new Tally();
  let running = true;
  const ends: Promise<void>[] = [];
  const open = Array.from({ length: connections }, (_, index) => {
    const connection = new Connection(host, port);
    const end = Promise.withResolvers<void>();
    ends.push(end.promise);
    let agent = index + 1;
    const next = (): void => {
      if (!running) {
        end.resolve();
        return;
      }
      const sentAt = performance.now();
      connection.send(request(agent), (reply) => {
        if (running) tally.take(reply, wanted, performance.now() - sentAt);
        next();
      });
      agent += connections;
      if (agent > agents) agent = index + 1;
    };
    next();
    return connection;
  });
  await delay(options.warmUpSeconds * 1_000);
  tally.reset();
  const metered = meter();
  const began = performance.now();
  await delay(options.seconds * 1_000);
  const seconds = (performance.now() - began) / 1_000;
  const result = { tally, seconds, perSecond: tally.good / seconds, metered: meter() - metered };
  running = false;
  await Promise.race([Promise.all(ends), delay(5_000)]);
  for (const connection of open) connection.close();
  return result;
}
