import { pairsOf } from '#server/domain/rollout-rules/compare.ts';
import { addCounts, resolvedPairs } from '#server/domain/rollout-rules/counts.ts';
import type { RingCounts } from '#server/domain/rollout-rules/stored.ts';
import { type DefinitionInput, hintRollouts, type PassServices, passRollout } from '#server/domain/rollouts/index.ts';
import { endRollouts, givenRunning, handler, newSettings, SimulatedClock } from '../given-rollout.ts';
import { storeHealthyFleet } from '../stored-reports.ts';
import { type FailureRates, SimulatedFleet } from './simulated-fleet.ts';

/** The outcome of a rollout that only the comparison judges. */
export interface RolloutTrial {
  state: string;
  /** Codes of the reasons why it was paused. */
  why: string[];
  /** VMs that had the change when the rollout paused or ended. */
  changed: number;
  pairs: number;
  /** In the ring that was judged last. */
  changedFirst: number;
  controlFirst: number;
  /** Simulated hours. */
  hours: number;
}

export interface TrialOptions {
  services: PassServices;
  rates: FailureRates;
  random(): number;
  /** Terms of the rollout that differ. */
  terms?: Partial<DefinitionInput>;
}

/** Simulated seconds between two looks. */
const tick = 30;
const longest = 3 * 86_400;

/** Runs a rollout of every VM in the rings of the strategy `careful`, in simulated time, until it pauses or ends. */
export async function runTrial({ services, rates, random, terms }: TrialOptions): Promise<RolloutTrial> {
  const client = services.db.$client;
  await endRollouts(client);
  await storeHealthyFleet(client);
  const { rows } = await client.query<{ id: string }>('select id from vms order by id');
  const clock = new SimulatedClock(await laterThanSteps(services));
  const began = seconds(clock.now);
  const fleet = new SimulatedFleet(
    client,
    rows.map((row) => row.id),
    rates,
    random,
    began,
  );
  const id = await givenRunning(services, { ...definition(), ...terms }, clock);
  for (let looked = began; ; ) {
    while ((await passRollout(services, clock.now)) !== null);
    const now = seconds(clock.now);
    fleet.publish(await begunSince(services, id, looked), now);
    looked = now;
    const rollout = await readRollout(services, id);
    if (rollout.state !== 'running') return trialOf(services, id, rollout, (now - began) / 3_600);
    if (now - began > longest) throw new Error(`The rollout does not end: ${JSON.stringify(rollout)}`);
    const next = Math.min(fleet.nextAt(await watchedBy(services, id)), rollout.dueAt);
    clock.advance(Math.max(tick, Math.ceil((next - now) / tick) * tick));
    const heard = await fleet.advance(seconds(clock.now));
    await hintRollouts(services, heard, clock.now);
  }
}

/** Returns a time after every step of earlier trials, whose simulated time is ahead. */
async function laterThanSteps({ db }: PassServices): Promise<number> {
  const { rows } = await db.$client.query<{ at: Date | null }>('select max(updated_at) as at from rollout_steps');
  const latest = Math.max(Date.now(), rows[0]?.at?.getTime() ?? 0);
  return Math.ceil(latest / 1_000) * 1_000 + 60_000;
}

const seconds = (at: Date): number => at.getTime() / 1_000;

/** A rollout that nothing but the comparison stops. */
const definition = (): DefinitionInput => ({
  ...{ name: 'trial', strategy: 'careful', select: { all: true } },
  change: { kind: 'set', handler, ...newSettings() },
  gates: { errors: null, success: null },
});

/** Returns the VMs whose steps began after this time. */
async function begunSince({ db }: PassServices, id: string, since: number): Promise<string[]> {
  const { rows } = await db.$client.query<{ vm_id: string }>(
    `select vm_id from rollout_steps
      where rollout_id = $1 and state = 'inFlight' and delivered_at is null and published_at >= to_timestamp($2)`,
    [id, since],
  );
  return rows.map(({ vm_id }) => vm_id);
}

/** Returns the VMs that decide how the rollout continues: those of open steps and pairs. */
async function watchedBy({ db }: PassServices, id: string): Promise<string[]> {
  const { rows } = await db.$client.query<{ id: string }>(
    `select vm_id as id from rollout_steps where rollout_id = $1 and state in ('inFlight', 'soaking')
     union select pair_vm_id from rollout_steps
      where rollout_id = $1 and pair_vm_id is not null and pair_result is null`,
    [id],
  );
  return rows.map((row) => row.id);
}

interface RolloutNow {
  state: string;
  why: { code: string }[];
  dueAt: number;
}

async function readRollout({ db }: PassServices, id: string): Promise<RolloutNow> {
  const { rows } = await db.$client.query<{ state: string; why: { code: string }[]; due_at: Date | null }>(
    'select state, why, due_at from rollouts where id = $1',
    [id],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('no such rollout');
  return {
    state: row.state,
    why: row.why,
    dueAt: row.due_at === null ? Number.POSITIVE_INFINITY : seconds(row.due_at),
  };
}

async function trialOf(
  { db }: PassServices,
  id: string,
  { state, why }: RolloutNow,
  hours: number,
): Promise<RolloutTrial> {
  const { rows } = await db.$client.query<{ counts: RingCounts; taken: number }>(
    'select counts, taken from rollout_rings where rollout_id = $1 order by ring',
    [id],
  );
  const last = rows.findLast(({ counts }) => counts.pairs > 0)?.counts;
  const { changedFirst = 0, controlFirst = 0 } = last === undefined ? {} : pairsOf(last, null);
  return {
    ...{ state, why: why.map(({ code }) => code), hours, changedFirst, controlFirst },
    changed: rows.reduce((sum, { taken }) => sum + taken, 0),
    pairs: resolvedPairs(addCounts(rows.map(({ counts }) => counts))),
  };
}
