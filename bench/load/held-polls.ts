import { setTimeout as delay } from 'node:timers/promises';
import type { Agents } from './agents.ts';
import { Connection, type HttpReply, headerOf } from './connection.ts';

/** Long polls of many VMs, each on its own connection and repeated after each response. */
export interface LongPolls {
  /** Resolves with the time when the VM's poll returns a new goal state. Only one caller per VM may wait. */
  nextGoalState(agent: number): Promise<number>;
  /** Resolves with the time when a response of the VM's poll announces an execution. Only one caller per VM may wait. */
  nextExecution(agent: number): Promise<number>;
  /** Responses other than a goal state or 304, counted by status or error. */
  complaints: Map<string, number>;
  close(): void;
}

export interface HeldPollsOptions {
  host: string;
  port: number;
  agents: Agents;
  count: number;
}

const waitSeconds = 60;
/** Number of connections that are opened concurrently; less than a listener's backlog. */
const opened = 250;

/** Opens the connections in batches. Resolves when every poll has been started. */
export async function holdPolls({ host, port, agents, count }: HeldPollsOptions): Promise<LongPolls> {
  const complaints = new Map<string, number>();
  const waiting = new Map<number, (at: number) => void>();
  const waitingForExecution = new Map<number, (at: number) => void>();
  let closed = false;
  const ask = (connection: Connection, agent: number): void => {
    connection.send(agents.poll(agent, waitSeconds), (reply) => take(connection, agent, reply));
  };
  const take = (connection: Connection, agent: number, reply: HttpReply): void => {
    if (closed) return;
    if (reply.status === 200) {
      const at = performance.now();
      agents.storeEtag(agent, headerOf(reply.head, 'etag'));
      waiting.get(agent)?.(at);
      waiting.delete(agent);
    } else if (reply.status === 304) {
      if (waitingForExecution.has(agent) && headerOf(reply.head, 'annex-execution') !== '') {
        waitingForExecution.get(agent)?.(performance.now());
        waitingForExecution.delete(agent);
      }
    } else {
      const what = reply.error ?? String(reply.status);
      complaints.set(what, (complaints.get(what) ?? 0) + 1);
    }
    ask(connection, agent);
  };
  const connections = Array.from({ length: count }, () => new Connection(host, port));
  for (const [index, connection] of connections.entries()) {
    ask(connection, index + 1);
    if (index % opened === opened - 1) await delay(50);
  }
  return {
    nextGoalState: (agent) => new Promise((resolve) => waiting.set(agent, resolve)),
    nextExecution: (agent) => new Promise((resolve) => waitingForExecution.set(agent, resolve)),
    complaints,
    close() {
      closed = true;
      for (const connection of connections) connection.close();
    },
  };
}
