import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { type Database, openDatabase } from '#db/client.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { getFleetSummary, type ListFleetInput, listFleet } from '#server/domain/views/index.ts';
import { openPool } from '#server/process/services.ts';
import { Latencies } from '../load/latencies.ts';
import { fleetByHand, type ListQuestion } from '../yardsticks/fleet-by-hand.ts';
import { alternate, type Bench, type Figure, figureOf } from './section.ts';

interface Page {
  what: string;
  input: ListFleetInput;
  byHand: Omit<ListQuestion, 'name'>;
}

/** Pages that people open, each as the input of its verb and as an equivalent SQL query. */
const pages: readonly Page[] = [
  {
    what: 'by name, first page',
    input: {},
    byHand: { where: 'true', order: 'v.name, v.id' },
  },
  {
    what: 'failed, the newest first',
    input: { health: ['failed'], sort: '-since' },
    // Filters by rank, as an expert would, because rank has an index.
    byHand: { where: 'h.rank = 0', order: 'h.since desc, h.vm_id desc' },
  },
  {
    what: 'worst first, one tag',
    input: { tags: [{ name: 'region', value: 'eu1' }], sort: 'health' },
    byHand: { where: `h.tags @> '{"region":"eu1"}'`, order: 'h.rank, h.name, h.vm_id' },
  },
  {
    what: 'part of a name',
    input: { q: 'us2-0000' },
    byHand: { where: `lower(v.name) like '%us2-0000%'`, order: 'v.name, v.id' },
  },
];

/** Measures the overview and list verbs on a large fleet, called in this process, against hand-written SQL. */
export async function fleet({ deployment, agents, rounds, seconds }: Bench): Promise<Figure[]> {
  const pool = openPool(deployment.databaseUrl, 'portal');
  try {
    const db = openDatabase(pool);
    const byHand = fleetByHand(pool);
    const context = (): Context & { isPage: true } => ({
      ...deployment.services,
      // Caches are keyed by this object, so no call here finds a cached result.
      db: Object.create(db) as Database,
      log: pino({ level: 'silent' }),
      actor: systemActor,
      origin: systemOrigin,
      now: new Date(),
      requestId: randomUUID(),
      isPage: true,
    });
    const p50 = async (ask: () => Promise<unknown>): Promise<number> => {
      await ask();
      const latencies = new Latencies();
      const until = performance.now() + (seconds * 1_000) / 2;
      while (performance.now() < until || latencies.count < 3) {
        const began = performance.now();
        await ask();
        latencies.record(performance.now() - began);
      }
      return latencies.percentiles().p50;
    };
    const compare = async (what: string, ours: () => Promise<unknown>, theirs: () => Promise<unknown>) =>
      figureOf(
        {
          what: `${what}, ${agents.count.toLocaleString('en-US')} VMs, p50`,
          unit: 'ms',
          against: 'prepared SQL by hand, p50',
          target: { kind: 'at most', value: 1.5, of: 'ratio' },
        },
        await alternate(
          rounds,
          () => p50(ours),
          () => p50(theirs),
        ),
      );
    const figures = [await compare('Overview', () => getFleetSummary(context()), byHand.overview)];
    for (const { what, input, byHand: question } of pages) {
      figures.push(
        await compare(
          `List ${what}`,
          () => listFleet(context(), input),
          () => byHand.list({ ...question, name: `list ${what}` }),
        ),
      );
    }
    return figures;
  } finally {
    await pool.end();
  }
}
