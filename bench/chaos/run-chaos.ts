import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Deployment } from '../deployment/deployment.ts';
import type { Fleet } from '../fleet/seed-fleet.ts';
import { Agents } from '../load/agents.ts';
import { numberFrom, randomFrom } from '../load/schedule.ts';
import { Tally } from '../load/tally.ts';
import { startCarefulAgents } from './careful-agents.ts';
import { faultsFor, type InjectedFault } from './events.ts';
import { type LookUpResult, lookUp } from './look-up.ts';
import type { SmallDisk } from './small-disk.ts';

export interface ChaosOptions {
  deployment: Deployment;
  fleet: Fleet;
  disk: SmallDisk;
  /** Ends the run early after this many kills. */
  kills: number;
  minutes: number;
  undo: Set<() => void>;
  say(line: string): void;
}

export interface ChaosResult extends LookUpResult {
  acknowledged: number;
  unacknowledged: number;
  faults: Record<string, number>;
  kills: number;
  /** Longest time without any acknowledgment, in seconds. */
  longestOutage: number;
  errors: Record<string, number>;
  minutes: number;
  /** Name of the fault after which the longest outage was measured. */
  longestOutageDuring: string;
}

/** Number of consecutive kills before a fault of another kind. */
const killsBetween = 4;
const settleSeconds = 90;

/** Injects faults one after the other while agents report, then looks up every acknowledged report. */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { deployment, fleet, disk, undo, say } = options;
  // A separate generator, so that faults and their times do not depend on how many calls the agents make.
  const random = randomFrom(numberFrom(`${fleet.seed} faults`));
  const agents = new Agents({ count: fleet.vms, seed: fleet.seed, etag: fleet.etag, run: 'chaos' });
  const tally = new Tally();
  const began = performance.now();
  const load = startCarefulAgents({
    gateways: deployment.gateways,
    agents,
    atOnce: 64,
    tally,
    random: randomFrom(numberFrom(fleet.seed)),
  });
  const faults = faultsFor({ deployment, disk, random, undo });
  const [killing, other] = [faults.filter(({ kill }) => kill), faults.filter(({ kill }) => !kill)];
  const happened: Record<string, number> = {};
  let kills = 0;
  let longest = 0;
  let during = '';
  for (let turn = 0; kills < options.kills && performance.now() - began < options.minutes * 60_000; turn += 1) {
    await delay(1_000 + random() * 3_000);
    const fault = draw(turn % (killsBetween + 1) === killsBetween ? other : killing, random);
    if (fault === undefined || !(await fault.inject())) continue;
    happened[fault.name] = (happened[fault.name] ?? 0) + 1;
    if (fault.kill) kills += 1;
    if (load.longestSilence() > longest) {
      longest = load.longestSilence();
      during = fault.name;
    }
    say(`${fault.name} (${kills} kills, ${load.count()} reports acknowledged, ${tally.failures} failed calls)`);
  }
  const unacknowledged = await load.finish(settleSeconds);
  await waitUntilAvailable(deployment.databaseUrl);
  const findings = await lookUp(deployment.databaseUrl, agents.run, load.acknowledged);
  return {
    ...findings,
    acknowledged: load.count(),
    unacknowledged,
    faults: happened,
    kills,
    longestOutage: load.longestSilence() / 1_000,
    longestOutageDuring: during,
    errors: Object.fromEntries(tally.bad),
    minutes: (performance.now() - began) / 60_000,
  };
}

const draw = (from: readonly InjectedFault[], random: () => number): InjectedFault | undefined =>
  from[Math.floor(random() * from.length)];

/** Waits for the database, which the last fault may have killed. */
async function waitUntilAvailable(databaseUrl: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2_000 });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (attempt >= settleSeconds) throw error;
      await delay(1_000);
    }
  }
}
