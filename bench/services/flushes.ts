import { alternate, type Bench, type Figure, figureOf, median } from '../sections/section.ts';
import { prepareTwoStatements } from '../yardsticks/two-statements.ts';
import type { BenchUnit, World } from './world.ts';

const writers = 8;
const perRound = 40;

/** Measures flushes of one changed key: in separate relations, in one relation, and with many participants. */
export async function flushes(bench: Bench, world: World, vmIds: readonly string[]): Promise<Figure[]> {
  const yardstick = await prepareTwoStatements(bench.deployment.databaseUrl, bench.agents.count);
  const own = vmIds.slice(0, writers);
  const apart = await world.related('apart', { providers: own, requirers: own }, own.length);
  const shared = await world.related('shared', { providers: own, requirers: own.slice(0, 1) });
  const separate = apart.providers.map((unit, n) => ({ unit, relation: apart.relations[n] ?? 0 }));
  const together = shared.providers.map((unit) => ({ unit, relation: shared.relations[0] ?? 0 }));
  const figure = async (what: string, pairs: typeof separate, clients: number, least: number): Promise<Figure> =>
    figureOf(
      {
        ...{ what, unit: '/s', against: `${yardstick.by}, two statements, c${clients}` },
        target: { kind: 'at least', value: least, of: 'ratio' },
      },
      await alternate(
        bench.rounds,
        () => flushesPerSecond(world, pairs, bench.seconds),
        async () => (await yardstick.run(clients, bench.seconds)).perSecond,
      ),
    );
  // The first flushes are a warm-up.
  await flushesPerSecond(world, separate, Math.min(bench.seconds, 1));
  return [
    await figure(`Flushes of one key, ${own.length} units in ${own.length} relations`, separate, own.length, 0.35),
    await figure(`Flushes of one key, ${own.length} units in one relation`, together, 1, 0.5),
    ...(await participants(bench, world, vmIds)),
  ];
}

let value = 0;
const nextValue = (): number => {
  value += 1;
  return value;
};

/** Returns the flushes per second of the time that the units spend in flushes. What begins the runs does not count. */
async function flushesPerSecond(
  world: World,
  pairs: readonly { unit: BenchUnit; relation: number }[],
  seconds: number,
): Promise<number> {
  const until = performance.now() + seconds * 1_000;
  let [count, milliseconds] = [0, 0];
  await Promise.all(
    pairs.map(async ({ unit, relation }) => {
      do {
        milliseconds += await world.flushMs(unit, relation, nextValue());
        count += 1;
      } while (performance.now() < until);
    }),
  );
  return (count * 1_000 * pairs.length) / milliseconds;
}

/** Measures a flush with many participants against one with two, and what both write. */
async function participants(bench: Bench, world: World, vmIds: readonly string[]): Promise<Figure[]> {
  const many = await world.related('many', { providers: vmIds.slice(0, 1), requirers: vmIds.slice(1, 1_000) });
  const two = await world.related('two', { providers: vmIds.slice(0, 1), requirers: vmIds.slice(1, 2) });
  await world.client.query('analyze');
  const count = many.providers.length + many.requirers.length;
  const measure = async ({ providers, relations }: typeof two): Promise<number> => {
    const [unit] = providers;
    const taken: number[] = [];
    if (unit === undefined) throw new Error('no unit');
    for (let n = 0; n < perRound; n += 1) taken.push(await world.flushMs(unit, relations[0] ?? 0, nextValue()));
    return median(taken);
  };
  const measured = await alternate(
    bench.rounds,
    () => measure(many),
    () => measure(two),
  );
  const walOf = async (side: typeof two): Promise<number> => {
    const position = async () =>
      (await world.client.query<{ at: string }>('select pg_current_wal_insert_lsn() as at')).rows[0]?.at ?? '0/0';
    const before = await position();
    await measure(side);
    const { rows } = await world.client.query<{ bytes: string }>('select pg_wal_lsn_diff($1, $2) as bytes', [
      await position(),
      before,
    ]);
    return Number(rows[0]?.bytes) / perRound / 1_000;
  };
  const wal = [await walOf(many), await walOf(two)] as const;
  return [
    figureOf(
      {
        ...{ what: `A flush with ${count} participants, p50`, unit: 'ms', against: 'with 2 participants' },
        target: { kind: 'at most', value: 1.3, of: 'ratio' },
      },
      measured,
    ),
    {
      ...{ what: `Write-ahead log per run with ${count} participants`, unit: 'kB', ours: wal[0], target: null },
      yardstick: { what: 'with 2 participants', value: wal[1] },
      ratio: wal[0] / wal[1],
      rounds: [{ ours: wal[0], yardstick: wal[1] }],
      note: 'contains the beginning of the run.',
    },
  ];
}
