import { setTimeout as delay } from 'node:timers/promises';
import { startDeployment } from '../deployment/deployment.ts';
import { readUsage } from '../deployment/processes.ts';
import { startOpenLoop } from '../load/open-loop.ts';
import { ConnectionPool } from '../load/pool.ts';
import { randomFrom, Schedule } from '../load/schedule.ts';
import { Tally } from '../load/tally.ts';
import { writeResults } from '../print/results.ts';
import { tableOf } from '../print/table.ts';
import { type Figure, figureOf, isMet } from '../sections/section.ts';
import { startBareHttp } from '../yardsticks/bare-http.ts';
import { StockCalls } from './calls.ts';
import { seedStock } from './seed-stock.ts';

/** The stock agent's polling period in milliseconds, and the number of other calls it sends per minute. */
const periodMs = 6_000;
const others = 6;

export interface StockOptions {
  vms: number;
  rounds: number;
  /** Seconds per measurement. */
  seconds: number;
  json: string | undefined;
  say(line: string): void;
}

/**
 * Measures idle stock VMs that call one gateway at the stock agent's period: latency of a call, and database load of a
 * VM. Prints the results and returns whether all targets are met.
 */
export async function stock(options: StockOptions): Promise<boolean> {
  const { vms: count, rounds, seconds, json, say } = options;
  const deployment = await startDeployment({ environment: { ANNEX_WIRE: 'on' }, worker: true, say });
  say(`${count} VMs in stock mode …`);
  const calls = new StockCalls(await seedStock(deployment.services, count));
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  await calls.meet(gateway.host, gateway.port);
  // The baseline sends a response with the content type and about the size of a goal state, so that it measures only
  // the transport.
  const bare = await startBareHttp({ 'content-type': 'text/xml; charset=utf-8' }, { status: 200, bytes: 1_400 });
  const gatewayPid = gateway.child.pid() ?? 0;
  const transactions = { calls: [] as number[], none: [] as number[] };
  const cpu: number[] = [];
  const counted = async (at: { host: string; port: number }, kept: number[]): Promise<number> => {
    const begin = async () => ({
      at: await committed(deployment.services.db.$client),
      used: readUsage(gatewayPid).cpuSeconds,
    });
    const { before, p99 } = await load(calls, count, at, seconds, begin);
    kept.push((await committed(deployment.services.db.$client)) - before.at);
    if (at === gateway) cpu.push((readUsage(gatewayPid).cpuSeconds - before.used) / seconds);
    return p99;
  };
  try {
    const measured: { ours: number; yardstick: number }[] = [];
    // The gateway always comes first. If the order alternated, the baseline would be measured twice in a row, and the
    // gateway would get no calls and consider the agents unresponsive.
    for (let round = 0; round < rounds; round += 1) {
      const p99 = await counted(gateway, transactions.calls);
      measured.push({ ours: p99, yardstick: await counted(bare, transactions.none) });
    }
    const own = (what: string, unit: string, values: number[], most: number | null): Figure => ({
      ...{
        what,
        unit,
        ours: values.reduce((sum, value) => sum + value, 0) / values.length,
        yardstick: null,
        ratio: null,
      },
      target: most === null ? null : { kind: 'at most', value: most, of: 'value' },
      rounds: values.map((value) => ({ ours: value, yardstick: null })),
    });
    const figures = [
      figureOf(
        {
          what: `Call of an idle stock VM, p99, ${count} VMs every ${periodMs / 1_000} s`,
          ...{ unit: 'ms', against: 'bare node:http, same calls' },
          target: { kind: 'at most', value: 50, of: 'value' },
        },
        measured,
      ),
      own(
        'Transactions per idle stock VM and minute, beyond those of a deployment without calls',
        '',
        transactions.calls.map((n, round) => (n - (transactions.none[round] ?? 0)) / count / (seconds / 60)),
        1,
      ),
      own(`Cores of the gateway, ${count} idle stock VMs`, '', cpu, null),
    ];
    const file = await writeResults(
      deployment.services.db.$client,
      'stock',
      { options: { count, rounds, seconds }, figures },
      json,
    );
    console.log(`\n${tableOf(figures)}\n\nin full: ${file}`);
    return figures.every((figure) => isMet(figure) !== false);
  } finally {
    await bare.stop();
  }
}

/**
 * Lets all VMs call for this long. Returns the 99th percentile of their latency, measured from when each call was due,
 * and the result of `begin`, which runs after the warm-up.
 */
async function load<B>(
  calls: StockCalls,
  count: number,
  at: { host: string; port: number },
  seconds: number,
  begin: () => Promise<B>,
): Promise<{ before: B; p99: number }> {
  const pool = new ConnectionPool(at.host, at.port, count);
  const tally = new Tally();
  const allAgents = Uint32Array.from({ length: count }, (_, index) => index);
  const wanted = [200, 404];
  const schedule = (period: number, seed: number) => new Schedule(allAgents, period, randomFrom(seed));
  let turn = 0;
  const loop = startOpenLoop(pool, [
    { schedule: schedule(periodMs, 1), request: (n) => calls.goalState(n), wanted, tally },
    { schedule: schedule(periodMs, 2), request: (n) => calls.status(n), wanted, tally },
    { schedule: schedule(60_000 / others, 3), request: (n) => calls.minute(n, turn++), wanted, tally },
  ]);
  // Warm-up: opens connections, compiles code, and lets every VM call.
  await delay(periodMs + 2_000);
  tally.reset();
  const before = await begin();
  await delay(seconds * 1_000);
  await loop.stop(5);
  pool.close();
  if (tally.failures > 0) throw new Error(`Calls failed: ${tally.complaint()}`);
  return { before, p99: tally.latencies.percentiles().p99 };
}

async function committed(db: { query(text: string): Promise<{ rows: { n: string }[] }> }): Promise<number> {
  const { rows } = await db.query('select xact_commit as n from pg_stat_database where datname = current_database()');
  return Number(rows[0]?.n);
}
