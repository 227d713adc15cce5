import type pg from 'pg';
import { getCells, getRollout } from '#server/domain/rollouts/index.ts';
import { Latencies } from '../load/latencies.ts';
import { alternate, type Bench, type Figure, figureOf } from '../sections/section.ts';
import {
  beginSteps,
  contextAt,
  endRollouts,
  givenRunning,
  handler,
  liftLimits,
  newSettings,
  SimulatedClock,
} from './given-rollout.ts';

const asksPerRound = 50;
const begun = 2_000;

/** Measures the first answer of a rollout's page, against its counts by hand. */
export async function pageRows({ deployment, agents, rounds }: Bench): Promise<Figure[]> {
  const { services } = deployment;
  const client = services.db.$client;
  await liftLimits(services);
  const clock = new SimulatedClock();
  const gates = { inFlight: { count: 20_000 }, ramp: false, compare: null };
  const ring = (name: string, percent: number) => ({ name, upTo: { percent } });
  const definition = {
    ...{ name: 'bench', select: { all: true as const }, gates },
    change: { kind: 'set' as const, handler, ...newSettings() },
    rings: [ring('half', 50), ring('all', 100)],
  };
  const id = await givenRunning(services, definition, clock);
  await beginSteps(services, clock, id, Math.min(begun, Math.floor(agents.count / 2)));
  const ctx = () => contextAt(services, clock.now);
  const compare = async (what: string, ours: () => Promise<unknown>, target: Figure['target']) =>
    figureOf(
      {
        what: `${what} of ${agents.count.toLocaleString('en-US')} members, p50`,
        ...{ unit: 'ms', against: 'counts by prepared SQL, p50', target },
      },
      await alternate(
        rounds,
        () => p50(ours),
        () => p50(() => countsByHand(client, id)),
      ),
    );
  const figures = [
    await compare('A rollout', () => getRollout(ctx(), { id }), { kind: 'at most', value: 1.5, of: 'ratio' }),
    await compare('The cells of a rollout', () => getCells(ctx(), { id }), null),
  ];
  await endRollouts(client);
  return figures;
}

async function p50(ask: () => Promise<unknown>): Promise<number> {
  const latencies = new Latencies();
  for (let n = 0; n < asksPerRound; n += 1) {
    const began = performance.now();
    await ask();
    latencies.record(performance.now() - began);
  }
  return latencies.percentiles().p50;
}

/** Reads what a page shows first, in one transaction: the rollout, its rings with their counts, and the rules. */
async function countsByHand(pool: pg.Pool, id: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query({ name: 'rollout', text: 'select * from rollouts where id = $1', values: [id] });
    await client.query({
      name: 'rings',
      text: 'select ring, state, first, size, counts, verdicts from rollout_rings where rollout_id = $1 order by ring',
      values: [id],
    });
    await client.query({ name: 'rules', text: 'select rules, freezes from rollout_rules where id = 1' });
    await client.query('commit');
  } finally {
    client.release();
  }
}
