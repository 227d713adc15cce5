import { setTimeout as delay } from 'node:timers/promises';
import { readUsage } from '../deployment/processes.ts';
import { runClosedLoop } from '../load/closed-loop.ts';
import { Connection, type HttpReply } from '../load/connection.ts';
import { startOpenLoop } from '../load/open-loop.ts';
import { ConnectionPool } from '../load/pool.ts';
import { randomFrom, Schedule } from '../load/schedule.ts';
import { Tally } from '../load/tally.ts';
import { startBareHttp } from '../yardsticks/bare-http.ts';
import { alternate, type Bench, type Figure, figureOf } from './section.ts';

const connections = 64;
/** Calls per second. The rate leaves both servers idle time, so that scheduling affects them alike. */
const perSecond = 8_000;

/**
 * Measures unchanged polls: responses per CPU second of the gateway, against a node:http server that only writes the
 * same headers.
 */
export async function poll({ deployment, agents, rounds, seconds }: Bench): Promise<Figure[]> {
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const headers = await headersOfUnchanged(gateway.host, gateway.port, agents.poll(1));
  const bare = await startBareHttp(headers);
  const request = (agent: number): string => agents.poll(agent);
  const push = async (host: string, port: number): Promise<number> => {
    const result = await runClosedLoop({
      ...{ host, port, connections, seconds, warmUpSeconds: 1, wanted: [304], agents: agents.count, request },
    });
    if (result.tally.failures > 0) throw new Error(`Polls failed: ${result.tally.complaint()}`);
    return result.perSecond;
  };
  const steady = (host: string, port: number, pid: number): Promise<number> =>
    perCpuSecond({ host, port, pid, seconds, agents: agents.count, request });
  try {
    const pid = gateway.child.pid() ?? 0;
    // Every agent calls once before the measurement.
    await perCpuSecond({ ...gateway, pid, seconds: agents.count / perSecond, agents: agents.count, request });
    const steadily = await alternate(
      rounds,
      () => steady(gateway.host, gateway.port, pid),
      () => steady(bare.host, bare.port, bare.pid),
    );
    const pushed = await alternate(
      rounds,
      () => push(gateway.host, gateway.port),
      () => push(bare.host, bare.port),
    );
    const against = 'bare node:http, same headers';
    return [
      figureOf(
        {
          what: `Unchanged poll, per CPU-second of the gateway (${perSecond}/s)`,
          unit: '/s',
          against,
          target: { kind: 'at least', value: 0.8, of: 'ratio' },
        },
        steadily,
      ),
      figureOf(
        { what: `Unchanged poll, answered per second (${connections} connections)`, unit: '/s', against, target: null },
        pushed,
      ),
    ];
  } finally {
    await bare.stop();
  }
}

interface Steady {
  host: string;
  port: number;
  /** The process whose CPU time is measured. */
  pid: number;
  seconds: number;
  /** Calls per second; 8,000 by default. */
  rate?: number;
  agents: number;
  request(agent: number): string;
}

/** Polls at a steady rate. Returns responses per CPU second of the server. */
export async function perCpuSecond({
  host,
  port,
  pid,
  seconds,
  rate = perSecond,
  agents,
  request,
}: Steady): Promise<number> {
  const pool = new ConnectionPool(host, port, connections);
  const tally = new Tally();
  const all = Uint32Array.from({ length: agents }, (_, index) => index + 1);
  const schedule = new Schedule(all, (agents / rate) * 1_000, randomFrom(1));
  const before = readUsage(pid).cpuSeconds;
  const loop = startOpenLoop(pool, [{ schedule, request, wanted: [304], tally }], { sleeps: false });
  await delay(seconds * 1_000);
  await loop.stop(5);
  const used = readUsage(pid).cpuSeconds - before;
  pool.close();
  if (tally.failures > 0) throw new Error(`Polls failed: ${tally.complaint()}`);
  return tally.good / used;
}

/** Returns the headers of a real response, without the headers that node:http adds automatically. */
async function headersOfUnchanged(host: string, port: number, request: string): Promise<Record<string, string>> {
  const connection = new Connection(host, port);
  const reply = await new Promise<HttpReply>((resolve) => connection.send(request, resolve));
  connection.close();
  if (reply.status !== 304) throw new Error(`A first poll was answered with ${reply.error ?? reply.status}.`);
  const lines = reply.head
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(/: (.*)/, 2) as [string, string]);
  return Object.fromEntries(lines.filter(([name]) => !/^(date|connection|keep-alive)$/i.test(name)));
}
