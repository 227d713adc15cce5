import { setTimeout as delay } from 'node:timers/promises';
import type { Deployment } from '../deployment/deployment.ts';
import { readUsages } from '../deployment/processes.ts';
import type { Fleet } from '../fleet/seed-fleet.ts';
import { Agents } from '../load/agents.ts';
import { Latencies, type Percentiles } from '../load/latencies.ts';
import { type Stream, startOpenLoop } from '../load/open-loop.ts';
import { ConnectionPool } from '../load/pool.ts';
import { numberFrom, randomFrom, Schedule } from '../load/schedule.ts';
import { Tally } from '../load/tally.ts';

/**
 * Reporting periods in milliseconds: every VM sends a heartbeat every two minutes, and a VM in transition sends a
 * status every five minutes.
 */
const heartbeatMs = 120_000;
const statusMs = 300_000;
/** One VM in a hundred is in transition. */
const transitionEvery = 100;
const sampleMs = 5_000;
/**
 * Every agent calls twice before the measurement. An agent's first call costs a fifth more than later calls: the
 * gateway has not cached the agent, and PostgreSQL has not cached the pages with the agent's rows. The first round is
 * longer for this reason, so second calls come up to a fifth later than the period that agents announce.
 */
const firstRound = 1.2;
const warmUpMs = (firstRound + 1) * heartbeatMs;

export interface MillionOptions {
  deployment: Deployment;
  fleet: Fleet;
  minutes: number;
  /** Number of keep-alive connections that all agents share. */
  connections: number;
  say(line: string): void;
}

type Process = 'gateway' | 'worker' | 'postgres' | 'bench';

/** A sample of the run, a few seconds long. */
export interface LoadSample {
  /** Seconds from the start of the measurement to the end of the sample; negative during the warm-up. */
  at: number;
  perSecond: number;
  p50: number;
  p99: number;
  failures: number;
  /** Number of calls at the end of the sample that were due and had no response. */
  outstanding: number;
  /** Number of CPU cores in use. */
  cores: Record<Process, number>;
  memoryBytes: Record<Process, number>;
}

export interface MillionResult {
  samples: LoadSample[];
  heartbeats: { count: number; latencies: Percentiles };
  statuses: { count: number; latencies: Percentiles };
  all: { count: number; perSecond: number; latencies: Percentiles };
  failures: Record<string, number>;
  /** Number of calls without a response at the end. */
  unanswered: number;
  /** How many times the health of a VM changed, by its new health. In this fleet, there should be no changes. */
  healthChanges: Record<string, number>;
}

/**
 * Makes the calls of every VM on its schedule, without waiting for responses: a warm-up of two rounds, then `minutes`
 * of measurement. The measurement includes calls that are outstanding when it starts.
 */
export async function runMillion({
  deployment,
  fleet,
  minutes,
  connections,
  say,
}: MillionOptions): Promise<MillionResult> {
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  const { heartbeats, statuses } = createStreams(fleet);
  const pool = new ConnectionPool(gateway.host, gateway.port, connections);
  const beganAt = new Date();
  const began = performance.now() + warmUpMs;
  const end = began + minutes * 60_000;
  const loop = startOpenLoop(pool, [heartbeats, statuses]);
  const sampler = new Sampler(
    [heartbeats, statuses],
    began,
    () => loop.outstanding(),
    () => pidsOf(deployment),
  );
  try {
    for (const until of [began, end]) {
      for (let left = until - performance.now(); left > 0; left = until - performance.now()) {
        await delay(Math.min(sampleMs, left));
        say(lineOf(sampler.sample(until === end)));
      }
    }
    await loop.stop(10);
    sampler.sample(true);
  } finally {
    pool.close();
  }
  const all = sampler.total();
  return {
    samples: sampler.samples,
    heartbeats: sampler.partOf(heartbeats),
    statuses: sampler.partOf(statuses),
    all: { count: all.count, perSecond: all.count / (minutes * 60), latencies: all.percentiles() },
    failures: sampler.failures,
    unanswered: loop.outstanding(),
    healthChanges: await readHealthChanges(deployment, beganAt),
  };
}

/** Returns the streams of calls: heartbeats of all agents, and statuses of agents in transition. */
function createStreams(fleet: Fleet): { heartbeats: Stream; statuses: Stream } {
  const agents = new Agents({ count: fleet.vms, seed: fleet.seed, etag: fleet.etag, run: `million-${Date.now()}` });
  const random = randomFrom(numberFrom(fleet.seed));
  const all = Uint32Array.from({ length: fleet.vms }, (_, index) => index + 1);
  const inTransition = all.filter((n) => n % transitionEvery === 0);
  const stream = (of: Uint32Array, periodMs: number, statusKind: 'none' | 'changed'): Stream => ({
    schedule: new Schedule(of, periodMs, random, { firstRound: periodMs === heartbeatMs ? firstRound : 1 }),
    request: (agent) => agents.report(agent, statusKind),
    wanted: [204],
    tally: new Tally(),
  });
  return { heartbeats: stream(all, heartbeatMs, 'none'), statuses: stream(inTransition, statusMs, 'changed') };
}

function pidsOf(deployment: Deployment): Record<Process, number> {
  return {
    gateway: deployment.gateways[0]?.child.pid() ?? 0,
    worker: deployment.worker()?.pid() ?? 0,
    postgres: deployment.database.pid(),
    bench: process.pid,
  };
}

/** Reads the tallies of the streams and the usage of the processes every few seconds. */
class Sampler {
  readonly samples: LoadSample[] = [];
  readonly failures: Record<string, number> = {};
  readonly #streams: readonly Stream[];
  readonly #began: number;
  readonly #outstanding: () => number;
  readonly #pids: () => Record<Process, number>;
  readonly #sums: Map<Stream, { latencies: Latencies; good: number }>;
  #usage: ReturnType<typeof readUsages<Process>>;
  #sampledAt = performance.now();

  constructor(
    streams: readonly Stream[],
    began: number,
    outstanding: () => number,
    pids: () => Record<Process, number>,
  ) {
    this.#streams = streams;
    this.#began = began;
    this.#outstanding = outstanding;
    this.#pids = pids;
    this.#sums = new Map(streams.map((stream) => [stream, { latencies: new Latencies(), good: 0 }]));
    this.#usage = readUsages(pids());
  }

  /** Takes a sample. If `counts` is false, as during the warm-up, only its failures count in the result. */
  sample(counts: boolean): LoadSample {
    const now = performance.now();
    const seconds = (now - this.#sampledAt) / 1_000;
    this.#sampledAt = now;
    const before = this.#usage;
    this.#usage = readUsages(this.#pids());
    const usage = this.#usage;
    const { latencies, good, bad } = this.#readTallies(counts);
    const { p50, p99 } = latencies.percentiles();
    const sample: LoadSample = {
      at: Math.round((now - this.#began) / 100) / 10,
      perSecond: good / seconds,
      p50,
      p99,
      failures: bad,
      outstanding: this.#outstanding(),
      cores: byProcess((name) => (usage[name].cpuSeconds - before[name].cpuSeconds) / seconds),
      memoryBytes: byProcess((name) => usage[name].memoryBytes),
    };
    if (counts) this.samples.push(sample);
    return sample;
  }

  #readTallies(counts: boolean): { latencies: Latencies; good: number; bad: number } {
    const latencies = new Latencies();
    let good = 0;
    let bad = 0;
    for (const stream of this.#streams) {
      const { tally } = stream;
      const sum = this.#sums.get(stream);
      latencies.add(tally.latencies);
      if (sum !== undefined && counts) {
        sum.latencies.add(tally.latencies);
        sum.good += tally.good;
      }
      good += tally.good;
      bad += tally.failures;
      for (const [what, count] of tally.bad) this.failures[what] = (this.failures[what] ?? 0) + count;
      tally.reset();
    }
    return { latencies, good, bad };
  }

  total(): Latencies {
    const all = new Latencies();
    for (const { latencies } of this.#sums.values()) all.add(latencies);
    return all;
  }

  partOf(stream: Stream): { count: number; latencies: Percentiles } {
    const sum = this.#sums.get(stream);
    return { count: sum?.good ?? 0, latencies: (sum?.latencies ?? new Latencies()).percentiles() };
  }
}

const byProcess = (value: (name: Process) => number): Record<Process, number> => ({
  gateway: value('gateway'),
  worker: value('worker'),
  postgres: value('postgres'),
  bench: value('bench'),
});

async function readHealthChanges({ services }: Deployment, since: Date): Promise<Record<string, number>> {
  const { rows } = await services.db.$client.query<{ to: string | null; changes: number }>(
    `select "to", count(*)::int as changes from health_transitions
      where extension is null and kind = 'health' and at >= $1 group by 1`,
    [since],
  );
  return Object.fromEntries(rows.map(({ to, changes }) => [to ?? 'gone', changes]));
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)}`;

function lineOf({ at, perSecond, p50, p99, failures, outstanding, cores, memoryBytes }: LoadSample): string {
  const share = (name: Process): string =>
    `${name} ${Math.round(cores[name] * 100)} % ${megabytes(memoryBytes[name])} MB`;
  return (
    `${at.toFixed(0).padStart(4)} s  ${Math.round(perSecond)}/s  p50 ${p50.toFixed(1)}  p99 ${p99.toFixed(1)} ms  ` +
    `failed ${failures}  outstanding ${outstanding}  ${share('gateway')}, ${share('worker')}, ${share('postgres')}, ${share('bench')}`
  );
}
