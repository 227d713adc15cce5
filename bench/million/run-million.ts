import { setTimeout as delay } from 'node:timers/promises';
import type { Fleet } from '../fleet/seed-fleet.ts';
import type { House } from '../house/house.ts';
import { readUsages } from '../house/processes.ts';
import { Agents } from '../load/agents.ts';
import { Latencies, type Percentiles } from '../load/latencies.ts';
import { type Stream, startOpenLoop } from '../load/open-loop.ts';
import { ConnectionPool } from '../load/pool.ts';
import { numberFrom, randomFrom, Schedule } from '../load/schedule.ts';
import { Tally } from '../load/tally.ts';

/** The source document's cadence: heartbeats every two minutes, statuses of what is in transition every five. */
const heartbeatMs = 120_000;
const statusMs = 300_000;
/** One VM in a hundred is in transition. */
const transitionEvery = 100;
const sampleMs = 5_000;
/**
 * Everybody calls twice before the measured time. With the first call, a fifth slower than later ones, the gateway meets
 * the agent and PostgreSQL the pages of its rows; until the second one an agent is a little later than it promised.
 */
const firstRound = 1.2;
const warmUpMs = (firstRound + 1) * heartbeatMs;

export interface MillionOptions {
  house: House;
  fleet: Fleet;
  minutes: number;
  /** Keep-alive connections that all agents share. */
  connections: number;
  say(line: string): void;
}

type Process = 'gateway' | 'worker' | 'postgres' | 'bench';

/** A few seconds of the run. */
export interface Sample {
  /** Seconds from the beginning of the measured time to the end of it; below zero in the warm-up. */
  at: number;
  perSecond: number;
  p50: number;
  p99: number;
  failures: number;
  /** Calls that were due and unanswered at its end. */
  outstanding: number;
  /** Cores in use, 1 = one core. */
  cores: Record<Process, number>;
  memoryBytes: Record<Process, number>;
}

export interface MillionResult {
  samples: Sample[];
  heartbeats: { count: number; latencies: Percentiles };
  statuses: { count: number; latencies: Percentiles };
  all: { count: number; perSecond: number; latencies: Percentiles };
  failures: Record<string, number>;
  /** Calls that had no answer in the end. */
  unanswered: number;
  /** How often the health of a VM became another meanwhile, by what it became. Nothing happens to this fleet. */
  healthChanges: Record<string, number>;
}

/**
 * Every VM reports by its own clock, twice for a start and then for so many minutes, whatever becomes of the answers.
 * Whoever still waits when the measured time begins counts in it.
 */
export async function runMillion({ house, fleet, minutes, connections, say }: MillionOptions): Promise<MillionResult> {
  const [gateway] = house.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const agents = new Agents({ count: fleet.vms, seed: fleet.seed, etag: fleet.etag, run: `million-${Date.now()}` });
  const random = randomFrom(numberFrom(fleet.seed));
  const everybody = Uint32Array.from({ length: fleet.vms }, (_, index) => index + 1);
  const inTransition = everybody.filter((n) => n % transitionEvery === 0);
  const stream = (of: Uint32Array, periodMs: number, said: 'none' | 'changed'): Stream => ({
    schedule: new Schedule(of, periodMs, random, { firstRound: periodMs === heartbeatMs ? firstRound : 1 }),
    request: (agent) => agents.report(agent, said),
    wanted: [204],
    tally: new Tally(),
  });
  const heartbeats = stream(everybody, heartbeatMs, 'none');
  const statuses = stream(inTransition, statusMs, 'changed');
  const streams = [heartbeats, statuses];
  const pool = new ConnectionPool(gateway.host, gateway.port, connections);
  const pids = (): Record<Process, number> => ({
    gateway: gateway.child.pid() ?? 0,
    worker: house.worker()?.pid() ?? 0,
    postgres: house.database.pid(),
    bench: process.pid,
  });

  const sums = new Map(streams.map((each) => [each, { latencies: new Latencies(), good: 0 }]));
  const failures: Record<string, number> = {};
  const samples: Sample[] = [];
  const beganAt = new Date();
  const began = performance.now() + warmUpMs;
  const end = began + minutes * 60_000;
  const loop = startOpenLoop(pool, streams);
  let usage = readUsages(pids());
  let sampledAt = performance.now();
  const sample = (counts: boolean): Sample => {
    const now = performance.now();
    const seconds = (now - sampledAt) / 1_000;
    sampledAt = now;
    const before = usage;
    usage = readUsages(pids());
    const latencies = new Latencies();
    let good = 0;
    let bad = 0;
    for (const each of streams) {
      const sum = sums.get(each);
      latencies.add(each.tally.latencies);
      if (sum !== undefined && counts) {
        sum.latencies.add(each.tally.latencies);
        sum.good += each.tally.good;
      }
      good += each.tally.good;
      bad += each.tally.failures;
      for (const [what, count] of each.tally.bad) failures[what] = (failures[what] ?? 0) + count;
      each.tally.reset();
    }
    const { p50, p99 } = latencies.percentiles();
    const of = (value: (name: Process) => number): Record<Process, number> => ({
      gateway: value('gateway'),
      worker: value('worker'),
      postgres: value('postgres'),
      bench: value('bench'),
    });
    const taken: Sample = {
      at: Math.round((now - began) / 100) / 10,
      perSecond: good / seconds,
      p50,
      p99,
      failures: bad,
      outstanding: loop.outstanding(),
      cores: of((name) => (usage[name].cpuSeconds - before[name].cpuSeconds) / seconds),
      memoryBytes: of((name) => usage[name].memoryBytes),
    };
    if (counts) samples.push(taken);
    return taken;
  };
  try {
    for (const until of [began, end]) {
      for (let left = until - performance.now(); left > 0; left = until - performance.now()) {
        await delay(Math.min(sampleMs, left));
        say(lineOf(sample(until === end)));
      }
    }
    await loop.stop(10);
    sample(true);
  } finally {
    pool.close();
  }
  const all = new Latencies();
  for (const { latencies } of sums.values()) all.add(latencies);
  const partOf = (each: Stream) => ({
    count: sums.get(each)?.good ?? 0,
    latencies: (sums.get(each)?.latencies ?? new Latencies()).percentiles(),
  });
  return {
    samples,
    heartbeats: partOf(heartbeats),
    statuses: partOf(statuses),
    all: { count: all.count, perSecond: all.count / (minutes * 60), latencies: all.percentiles() },
    failures,
    unanswered: loop.outstanding(),
    healthChanges: await readHealthChanges(house, beganAt),
  };
}

async function readHealthChanges({ services }: House, since: Date): Promise<Record<string, number>> {
  const { rows } = await services.db.$client.query<{ to: string | null; changes: number }>(
    `select "to", count(*)::int as changes from health_transitions
      where extension is null and kind = 'health' and at >= $1 group by 1`,
    [since],
  );
  return Object.fromEntries(rows.map(({ to, changes }) => [to ?? 'gone', changes]));
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)}`;

function lineOf({ at, perSecond, p50, p99, failures, outstanding, cores, memoryBytes }: Sample): string {
  const share = (name: Process): string =>
    `${name} ${Math.round(cores[name] * 100)} % ${megabytes(memoryBytes[name])} MB`;
  return (
    `${at.toFixed(0).padStart(4)} s  ${Math.round(perSecond)}/s  p50 ${p50.toFixed(1)}  p99 ${p99.toFixed(1)} ms  ` +
    `failed ${failures}  outstanding ${outstanding}  ${share('gateway')}, ${share('worker')}, ${share('postgres')}, ${share('bench')}`
  );
}
