import { setTimeout as delay } from 'node:timers/promises';
import type { Agents } from '../load/agents.ts';
import { Connection, type HttpReply } from '../load/connection.ts';
import { Tally } from '../load/tally.ts';

/** Agents that report continuously, and the reports that were acknowledged. */
export interface Reporting {
  /** The highest report number that was acknowledged, by VM. All reports with lower numbers were acknowledged too. */
  acknowledged: Uint32Array;
  tally: Tally;
  /** Resolves with the time of the first acknowledgment of a report that is sent after this call. */
  nextAcknowledgement(): Promise<number>;
  /** Stops sending new reports. Resolves when all pending reports are acknowledged. */
  stop(): Promise<void>;
}

const pauseMs = 50;

/**
 * Starts reporting over several connections. Each connection serves a share of the agents, sends one report at a time,
 * and resends it until it is acknowledged.
 */
export function startReporting(agents: Agents, host: string, port: number, connections: number): Reporting {
  const acknowledged = new Uint32Array(agents.count + 1);
  const tally = new Tally();
  const waiting: { since: number; resolve(at: number): void }[] = [];
  let stopped = false;

  const acknowledge = (sentAt: number): void => {
    const now = performance.now();
    for (const one of waiting.filter(({ since }) => sentAt >= since)) {
      waiting.splice(waiting.indexOf(one), 1);
      one.resolve(now);
    }
  };
  const deliver = async (connection: Connection, agent: number): Promise<void> => {
    const { body, reportNumber } = agents.prepare(agent, 'changed');
    for (;;) {
      const sentAt = performance.now();
      const reply = await new Promise<HttpReply>((resolve) => connection.send(agents.post(agent, body), resolve));
      if (tally.take(reply, [204], performance.now() - sentAt)) {
        acknowledged[agent] = reportNumber;
        return acknowledge(sentAt);
      }
      await delay(pauseMs);
    }
  };
  const reportOn = async (first: number): Promise<void> => {
    const connection = new Connection(host, port);
    for (let agent = first; !stopped; agent = agent + connections > agents.count ? first : agent + connections) {
      await deliver(connection, agent);
    }
    connection.close();
  };
  const all = Array.from({ length: Math.min(connections, agents.count) }, (_, index) => reportOn(index + 1));
  return {
    acknowledged,
    tally,
    nextAcknowledgement: () =>
      new Promise((resolve) => {
        waiting.push({ since: performance.now(), resolve });
      }),
    async stop() {
      stopped = true;
      await Promise.all(all);
    },
  };
}
