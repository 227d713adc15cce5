import { setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '../../deployment/deployment.ts';
import { type Agents, extensionNames, heartbeatFile } from '../../load/agents.ts';
import { Connection, type HttpReply, headerOf } from '../../load/connection.ts';

export interface AnsweringOptions {
  gateway: Gateway;
  agents: Agents;
  run: string;
  /** Returns the availability set of a VM; null if it has none. */
  setOf(n: number): string | null;
  /** Whether the command of a VM fails. */
  fails(n: number): boolean;
  random(): number;
}

/** What agents saw while a rollout ran. */
export interface AnsweringAgents {
  /** Goal states that broke a rule, in words. */
  violations: string[];
  /** Number of goal states that an agent fetched and reported on. */
  answered(): number;
  /** Number of calls that failed and were sent again. */
  failures(): number;
  stop(): Promise<void>;
}

const connections = 48;
/** Milliseconds in which every agent polls once, between two reports of an agent, and before a call is repeated. */
const roundMs = 4_000;
const reportMs = 60_000;
const againMs = 250;
const patienceMs = 15_000;
const longestCommandMs = 200;

/** The part of a goal state that the agents need. */
interface Goal {
  extensions: { name: string; version: string; sequenceNumber: number }[];
}

/**
 * Starts agents that poll over HTTP, run a command of up to 200 ms for each new goal state, and report its outcome until
 * the report is acknowledged. They note if two VMs of an availability set run a command at the same time, and if a VM
 * gets the same change twice.
 */
export function startAnsweringAgents(options: AnsweringOptions): AnsweringAgents {
  const { gateway, agents, run, setOf, fails, random } = options;
  const violations: string[] = [];
  const [sequences, numbers] = [new Uint32Array(agents.count + 1).fill(1), new Uint32Array(agents.count + 1)];
  const reportedAt = new Float64Array(agents.count + 1).fill(performance.now());
  const working = new Map<string, number>();
  const open: Connection[] = [];
  const counts = { answered: 0, failures: 0 };
  let running = true;

  const call = async (connection: Connection, request: string): Promise<HttpReply> => {
    const late = setTimeout(() => connection.giveUp('no answer'), patienceMs);
    const reply = await new Promise<HttpReply>((resolve) => connection.send(request, resolve));
    clearTimeout(late);
    return reply;
  };
  const report = async (connection: Connection, n: number, entries: object): Promise<void> => {
    const reportNumber = (numbers[n] ?? 0) + 1;
    numbers[n] = reportNumber;
    const body = JSON.stringify({ ...envelope(run), reportNumber, ...entries });
    while (running) {
      const { status, error } = await call(connection, agents.post(n, body));
      if (error === null && status === 204) break;
      counts.failures += 1;
      await delay(againMs);
    }
    reportedAt[n] = performance.now();
  };
  const answer = async (connection: Connection, n: number, { head, body }: HttpReply): Promise<void> => {
    const goal = (JSON.parse(body) as Goal).extensions.find(({ name }) => name === extensionNames.silent);
    const [before, set] = [sequences[n] ?? 0, setOf(n)];
    const etag = headerOf(head, 'etag');
    if (goal !== undefined && goal.sequenceNumber !== before) {
      if (goal.sequenceNumber !== before + 1) violations.push(`VM ${n}: ${before} → ${goal.sequenceNumber}`);
      const other = set === null ? undefined : working.get(set);
      if (other !== undefined) violations.push(`${set}: VMs ${other} and ${n} were out of service together`);
      if (set !== null) working.set(set, n);
      await delay(random() * longestCommandMs);
      sequences[n] = goal.sequenceNumber;
      await report(connection, n, { appliedEtag: etag, ...outcomeOf(goal, fails(n)) });
      if (set !== null) working.delete(set);
      counts.answered += 1;
    }
    agents.storeEtag(n, etag);
  };
  const one = async (connection: Connection, n: number): Promise<void> => {
    const reply = await call(connection, agents.poll(n));
    if (reply.status === 200) await answer(connection, n, reply);
    else if (reply.status !== 304) {
      counts.failures += 1;
      await delay(againMs);
    } else if (performance.now() - (reportedAt[n] ?? 0) > reportMs) await report(connection, n, {});
  };
  const loop = async (first: number): Promise<void> => {
    const connection = new Connection(gateway.host, gateway.port);
    open.push(connection);
    while (running) {
      const until = performance.now() + roundMs;
      for (let n = first; running && n <= agents.count; n += connections) await one(connection, n);
      await delay(Math.max(0, until - performance.now()));
    }
  };
  const loops = Array.from({ length: Math.min(connections, agents.count) }, (_, index) => loop(index + 1));
  return {
    violations,
    answered: () => counts.answered,
    failures: () => counts.failures,
    async stop() {
      running = false;
      for (const connection of open) connection.close();
      await Promise.all(loops);
    },
  };
}

const envelope = (run: string) => ({
  ...{ run, agentTime: new Date().toISOString(), periods: { heartbeatSeconds: 120, statusSeconds: 300 } },
  heartbeats: [{ extension: extensionNames.heartbeat, ageSeconds: 1, readSecondsAgo: 0, file: heartbeatFile }],
});

/** Returns the entries of a report about a command that succeeded or failed. */
function outcomeOf({ name, version, sequenceNumber }: Goal['extensions'][number], hasFailed: boolean) {
  const status = { name, operation: 'enable', status: hasFailed ? 'error' : 'success', code: hasFailed ? 1 : 0 };
  const file = [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status }];
  const ran = { state: 'enabled', command: 'enable', exitCode: 0, attempt: 1 };
  return {
    handlers: [{ extension: name, version, sequenceNumber, ...ran }],
    statuses: [{ extension: name, sequenceNumber, ageSeconds: 0, readSecondsAgo: 0, file }],
  };
}
