import { setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '../deployment/deployment.ts';
import type { Agents } from '../load/agents.ts';
import { Connection, type HttpReply } from '../load/connection.ts';
import type { Tally } from '../load/tally.ts';

export interface CarefulAgents {
  /** The highest report number that was acknowledged, by VM. Each agent sends one report at a time. */
  acknowledged: Uint32Array;
  count(): number;
  /** Returns the longest time without any acknowledgment, in milliseconds. */
  longestSilence(): number;
  /**
   * Resends unfinished reports until they are acknowledged, for at most this many seconds. Returns the number of
   * reports that were not acknowledged.
   */
  finish(seconds: number): Promise<number>;
}

export interface CarefulOptions {
  gateways: readonly Gateway[];
  agents: Agents;
  /** Number of agents that report concurrently. */
  atOnce: number;
  tally: Tally;
  random(): number;
}

const thinkMs = 200;
const pauseMs = 250;
/** How long to wait for a response, in milliseconds. */
const patienceMs = 30_000;

/**
 * Starts agents that keep a report until it is acknowledged, as the protocol requires. After any other response, the
 * agent resends the report with the same number to the next gateway. Each report has a unique status.
 */
export function startCarefulAgents({ gateways, agents, atOnce, tally, random }: CarefulOptions): CarefulAgents {
  const acknowledged = new Uint32Array(agents.count + 1);
  let running = true;
  let until = Number.POSITIVE_INFINITY;
  let count = 0;
  let lastAt = performance.now();
  let longest = 0;
  const open: Connection[] = [];

  const send = (connection: Connection, request: string): Promise<HttpReply> =>
    new Promise((resolve) => {
      const late = setTimeout(() => connection.giveUp('no answer'), patienceMs);
      connection.send(request, (reply) => {
        clearTimeout(late);
        resolve(reply);
      });
    });

  /** Sends one report until it is acknowledged. Returns false if the time ran out first. */
  const deliver = async (connections: Connection[], agent: number): Promise<boolean> => {
    const report = agents.prepare(agent, 'changed');
    for (let attempt = Math.floor(random() * connections.length); performance.now() < until; attempt += 1) {
      const connection = connections[attempt % connections.length];
      if (connection === undefined) return false;
      const began = performance.now();
      const reply = await send(connection, agents.post(agent, report.body));
      const now = performance.now();
      if (tally.take(reply, [204], now - began)) {
        acknowledged[agent] = report.reportNumber;
        count += 1;
        longest = Math.max(longest, now - lastAt);
        lastAt = now;
        return true;
      }
      await delay(pauseMs * (0.5 + random()));
    }
    return false;
  };

  const one = async (first: number): Promise<number> => {
    const connections = gateways.map(({ host, port }) => new Connection(host, port));
    open.push(...connections);
    for (let agent = first; running; agent = agent + atOnce > agents.count ? first : agent + atOnce) {
      if (!(await deliver(connections, agent))) return 1;
      await delay(thinkMs * random());
    }
    return 0;
  };
  const loops = Array.from({ length: Math.min(atOnce, agents.count) }, (_, index) => one(index + 1));
  return {
    acknowledged,
    count: () => count,
    longestSilence: () => Math.max(longest, performance.now() - lastAt),
    async finish(seconds) {
      running = false;
      until = performance.now() + seconds * 1_000;
      const left = await Promise.all(loops);
      for (const connection of open) connection.close();
      return left.reduce((sum, one) => sum + one, 0);
    },
  };
}
