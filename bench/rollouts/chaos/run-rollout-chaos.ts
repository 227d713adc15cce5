import { setTimeout as delay } from 'node:timers/promises';
import { defaultRules } from '#server/domain/rollout-rules/strategies.ts';
import type { DefinitionInput } from '#server/domain/rollouts/index.ts';
import { signal } from '#server/platform/processes.ts';
import type { Deployment } from '../../deployment/deployment.ts';
import type { Fleet } from '../../fleet/seed-fleet.ts';
import { Agents } from '../../load/agents.ts';
import { numberFrom, randomFrom } from '../../load/schedule.ts';
import { givenRunning, handler, newSettings } from '../given-rollout.ts';
import { storeFirstGoals } from '../stored-reports.ts';
import { startAnsweringAgents } from './answering-agents.ts';
import { findProblems, type RolloutFindings } from './check-rollout.ts';

export interface RolloutChaosOptions {
  deployment: Deployment;
  fleet: Fleet;
  /** Seconds between two kills, on average. */
  everySeconds: number;
  minutes: number;
  say(line: string): void;
}

export interface RolloutChaosResult extends RolloutFindings {
  state: string;
  kills: Record<string, number>;
  seconds: number;
  answered: number;
  failures: number;
}

const setTag = defaultRules.availabilitySetTag;
const patienceSeconds = 60;

/** In every 50 VMs, 15 are in availability sets of three. The fleet has VMs that failed before; none of them is in a set. */
const setOf = (n: number): string | null => {
  const place = (n % 50) - 2;
  return place >= 0 && place < 15 ? `set-${Math.floor(n / 50)}-${Math.floor(place / 3)}` : null;
};
/** One VM in 50 fails, outside of the sets, because a failed VM keeps its set closed. */
const fails = (n: number): boolean => n % 50 === 20;

/** Runs a rollout of the whole fleet while worker and database are killed, and checks what it did. */
export async function runRolloutChaos(options: RolloutChaosOptions): Promise<RolloutChaosResult> {
  const { deployment, fleet, say } = options;
  const { services } = deployment;
  const [gateway] = deployment.gateways;
  if (gateway === undefined) throw new Error('no gateway');
  await storeSets(deployment);
  await storeFirstGoals(services.db.$client);
  await deployment.startWorker();
  const id = await givenRunning(services, definition);
  const began = performance.now();
  const run = `rollout-chaos-${process.pid}`;
  const random = randomFrom(numberFrom(fleet.seed));
  const agents = startAnsweringAgents({
    ...{ gateway, agents: new Agents({ count: fleet.vms, seed: fleet.seed, etag: fleet.etag, run }), run },
    ...{ setOf, fails, random },
  });
  const read = () => whenAvailable(() => progressOf(deployment, id));
  const kills = await killUntil(options, async () => {
    const { state, steps } = await read();
    say(`${state}: ${steps} steps, ${agents.answered()} answered, ${agents.failures()} failed calls`);
    return state !== 'running';
  });
  const seconds = (performance.now() - began) / 1_000;
  const { state } = await read();
  await agents.stop();
  const findings = await whenAvailable(() => findProblems(services.db, id, setTag));
  const wrong = await whenAvailable(() => wrongOutcomes(deployment, id));
  const problems = [...findings.problems, ...agents.violations, ...wrong];
  if (state !== 'finished') problems.push(`the rollout did not finish: it is ${state}`);
  return { ...findings, problems, state, kills, seconds, answered: agents.answered(), failures: agents.failures() };
}

const definition: DefinitionInput = {
  ...{ name: 'chaos', select: { all: true }, availabilitySets: 'respect' },
  change: { kind: 'set', handler, ...newSettings() },
  rings: [1, 10, 50, 100].map((percent) => ({ name: `up to ${percent} %`, upTo: { percent } })),
  gates: {
    ...{ inFlight: { percent: 20 }, ramp: false, soakSeconds: 2, bakeSeconds: 1 },
    ...{ errors: null, success: null, compare: null },
  },
};

/** Kills the worker and the database in random order until the rollout ended. Returns how often each was killed. */
async function killUntil(
  { deployment, everySeconds, minutes, fleet, say }: RolloutChaosOptions,
  hasEnded: () => Promise<boolean>,
): Promise<Record<string, number>> {
  const random = randomFrom(numberFrom(`${fleet.seed} kills`));
  const kills = { worker: 0, database: 0 };
  const until = performance.now() + minutes * 60_000;
  while (!(await hasEnded())) {
    if (performance.now() > until) break;
    // Counts from when both run again, so that even a slow machine makes progress between two kills.
    await workerIsBack(deployment);
    await delay(everySeconds * 1_000 * (0.5 + random()));
    const name = random() < 0.5 ? 'worker' : 'database';
    const pid = name === 'worker' ? deployment.worker()?.pid() : deployment.database.pid();
    if (pid === undefined) continue;
    signal(pid, 'SIGKILL');
    kills[name] += 1;
    say(`kill -9 of the ${name}`);
    // Without the pause that the launcher makes after several exits.
    if (name === 'worker') await deployment.worker()?.restart();
  }
  return kills;
}

async function progressOf({ services }: Deployment, id: string): Promise<{ state: string; steps: number }> {
  const { rows } = await services.db.$client.query<{ state: string; steps: number }>(
    `select state, (select count(*)::int from rollout_steps where rollout_id = $1 and state <> 'parked') as steps
      from rollouts where id = $1`,
    [id],
  );
  return rows[0] ?? { state: 'missing', steps: 0 };
}

/** Waits until the database answers and the worker is connected to it. */
async function workerIsBack({ services }: Deployment): Promise<void> {
  for (let attempt = 0; attempt < patienceSeconds * 10; attempt += 1) {
    const { rows } = await whenAvailable(() =>
      services.db.$client.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where application_name = 'annex-worker'`,
      ),
    );
    if ((rows[0]?.n ?? 0) > 0) return;
    await delay(100);
  }
}

/** Repeats a read until the database, which may have been killed, answers. */
async function whenAvailable<Result>(read: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (attempt >= patienceSeconds) throw error;
      await delay(1_000);
    }
  }
}

async function storeSets({ services }: Deployment): Promise<void> {
  const client = services.db.$client;
  const { rows } = await client.query<{ vm_id: string; n: string }>(
    `select vm_id, substr(instance_id, length('bench-') + 1) as n from agents`,
  );
  const inSets = rows.flatMap(({ vm_id, n }) => {
    const set = setOf(Number(n));
    return set === null ? [] : [{ vm_id, set }];
  });
  for (const [table, id] of [
    ['vms', 'id'],
    ['vm_health', 'vm_id'],
  ] as const) {
    await client.query(
      `update ${table} t set tags = t.tags || jsonb_build_object($3::text, r.set)
        from unnest($1::uuid[], $2::text[]) as r(id, set) where t.${id} = r.id`,
      [inSets.map(({ vm_id }) => vm_id), inSets.map(({ set }) => set), setTag],
    );
  }
}

/** Returns the VMs whose step has another outcome than their agent reported. */
async function wrongOutcomes({ services }: Deployment, id: string): Promise<string[]> {
  const { rows } = await services.db.$client.query<{ n: string; state: string; cause: string | null }>(
    `select substr(a.instance_id, length('bench-') + 1) as n, s.state, s.cause
      from rollout_steps s join agents a on a.vm_id = s.vm_id where s.rollout_id = $1`,
    [id],
  );
  return rows.flatMap(({ n, state, cause }) => {
    const reported = fails(Number(n)) ? 'failed' : 'succeeded';
    return state === reported ? [] : [`VM ${n} reported ${reported}, but its step is ${state} (${cause})`];
  });
}
