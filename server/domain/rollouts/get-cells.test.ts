import { beforeAll, describe, expect, test } from 'vitest';
import { rolloutCurve, rolloutRings } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import { stepStates } from '#server/domain/rollout-rules/words.ts';
import { testContext } from '#server/testing/context.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { outcomeOf } from '#server/testing/records.ts';
import type { CellsView } from './answers.ts';
import { createRollout, getCells, getCurve } from './index.ts';
import { givenMachines } from './testing/given-machines.ts';
import { givenRollout, givenStep, probeDefinition } from './testing/given-rollout.ts';

let ctx: Context;
let viewer: Context;
let machines: GivenVm[];
const vm = (n: number): string => machines[n]?.vmId ?? '';
const unknown = '00000000-0000-4000-8000-000000000000';

beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  viewer = await testContext({ services: ctx, role: 'viewer' });
  machines = await givenMachines(ctx, stepStates.length);
});

/** Creates a running rollout with rings of these sizes. */
async function givenSizes(sizes: readonly number[]): Promise<string> {
  const rings = sizes.map((_, n) => ({ name: `ring ${n}`, upTo: { percent: n === sizes.length - 1 ? 100 : n + 1 } }));
  const { id } = await createRollout(ctx, { ...probeDefinition, rings });
  await ctx.db.insert(rolloutRings).values(
    sizes.map((size, ring) => ({
      ...{ rolloutId: id, ring, state: 'waiting' as const, first: 0, size },
      counts: emptyCounts(),
    })),
  );
  return id;
}

const sumOf = (counts: object): number => Object.values(counts).reduce((sum: number, n: number) => sum + n, 0);

/** Every member is in exactly one cell, cells are in order, and each adds up. */
function expectWhole({ perCell, cells }: CellsView, sizes: readonly number[]): void {
  for (const [ring, size] of sizes.entries()) {
    const own = cells.filter((cell) => cell.ring === ring);
    expect(own.map(({ place }) => place)).toEqual(own.map((_, n) => n * perCell));
    expect(own.reduce((sum, cell) => sum + cell.size, 0)).toBe(size);
  }
  expect(cells.map(({ ring }) => ring)).toEqual(cells.map(({ ring }) => ring).toSorted((a, b) => a - b));
  for (const { size, counts } of cells) expect(sumOf(counts)).toBe(size);
}

describe('cells', () => {
  test.each<[string, number[], number]>([
    ['as many members as cells', [5, 5, 10], 20],
    ['one member more than cells', [5, 5, 11], 20],
    ['many rings of one member beside a large one', [...Array.from({ length: 19 }, () => 1), 41], 20],
    ['twenty large rings', Array.from({ length: 20 }, () => 50), 20],
    ['rings without members', [0, 30, 0], 20],
    ['a million members', [10_000, 90_000, 400_000, 500_000], 4_000],
  ])('are never more than asked for: %s', async (_, sizes, most) => {
    const view = await getCells(viewer, { id: await givenSizes(sizes), cells: most });
    expect(view.cells.length).toBeLessThanOrEqual(most);
    expectWhole(view, sizes);
  });

  test('are as many as fit', async () => {
    const { perCell, cells } = await getCells(viewer, { id: await givenSizes([10, 10, 20]), cells: 20 });
    expect([perCell, cells.length]).toEqual([2, 20]);
  });

  test('count each state under the name that all pages use', async () => {
    const id = await givenSizes([stepStates.length + 3]);
    for (const [place, state] of stepStates.entries()) {
      await givenStep(ctx, { rolloutId: id, vmId: vm(place), state, place });
    }
    const { cells } = await getCells(viewer, { id });
    const shown = Object.fromEntries(
      stepStates.map((state, place) => [state, Object.keys(cells[place]?.counts ?? {})]),
    );
    expect(shown).toMatchObject({ recalled: ['queued'], retrying: ['inFlight'], reverting: ['inFlight'] });
    expect(shown).toMatchObject({ stuck: ['failed'], reverted: ['reverted'], parked: ['parked'] });
    expect(cells.slice(-3).map(({ counts }) => counts)).toEqual([{ queued: 1 }, { queued: 1 }, { queued: 1 }]);
    expectWhole({ perCell: 1, cells }, [stepStates.length + 3]);
  });

  test('that several members share name no VM, and add up the states', async () => {
    const id = await givenSizes([3, 40]);
    await givenStep(ctx, { rolloutId: id, vmId: vm(0), state: 'failed', place: 0 });
    await givenStep(ctx, { rolloutId: id, vmId: vm(1), state: 'stuck', place: 2 });
    await givenStep(ctx, { rolloutId: id, vmId: vm(2), state: 'recalled', ring: 1, place: 39 });
    const view = await getCells(viewer, { id, cells: 20 });
    expect(view.perCell).toBe(3);
    expect(view.cells[0]).toEqual({ ring: 0, place: 0, size: 3, counts: { failed: 2, queued: 1 }, vm: null });
    expect(view.cells.at(-1)).toEqual({ ring: 1, place: 39, size: 1, counts: { queued: 1 }, vm: null });
  });

  test('are none before the plan', async () => {
    const { id } = await givenRollout(ctx);
    expect(await getCells(viewer, { id })).toEqual({ perCell: 1, cells: [] });
  });

  test.each<[string, object, string]>([
    ['an unknown rollout', { id: unknown }, 'not_found rollout_unknown'],
    ['fewer cells than rings', { cells: 19 }, 'unprocessable invalid; /cells field_too_small'],
    ['too many cells', { cells: 4_001 }, 'unprocessable invalid; /cells field_too_big'],
    ['half a cell', { cells: 20.5 }, 'unprocessable invalid; /cells field_not_integer'],
  ])('are not returned for %s', async (_, input, outcome) => {
    const { id } = await givenRollout(ctx);
    expect(await outcomeOf(getCells(viewer, { id, ...input }))).toBe(outcome);
  });
});

describe('the curve', () => {
  const at = (minute: number) => new Date(Date.UTC(2026, 2, 1, 10, minute));
  const numbers = { failed: 1, pairs: 2, changedFirst: 1, controlFirst: 0 };

  test('is that of one ring of one rollout, oldest first', async () => {
    const [{ id }, other] = [await givenRollout(ctx), await givenRollout(ctx)];
    const points: [string, number, number, number][] = [
      [id, 0, 3, 30],
      [id, 0, 1, 10],
      [id, 1, 2, 20],
      [other.id, 0, 0, 99],
      [id, 0, 2, 15],
    ];
    for (const [rolloutId, ring, minute, decided] of points) {
      await ctx.db.insert(rolloutCurve).values({ rolloutId, ring, at: at(minute), decided, ...numbers });
    }
    const decidedOf = async (ring?: number) =>
      (await getCurve(viewer, { id, ring })).items.map(({ decided }) => decided);
    expect(await decidedOf()).toEqual([10, 15, 30]);
    expect(await decidedOf(0)).toEqual([10, 15, 30]);
    expect(await decidedOf(1)).toEqual([20]);
    expect(await decidedOf(2)).toEqual([]);
    const [point] = (await getCurve(viewer, { id, ring: 1 })).items;
    expect(point).toEqual({
      ...{ at: at(2).toISOString(), decided: 20, both: 0, ...numbers, difference: 1 },
      ...{ low: expect.any(Number), high: 1, haltsAt: expect.any(Number) },
    });
  });

  test('RO-25 has the band and the difference at which the comparison halts, even after it was overruled', async () => {
    const overruled = { decided: 0, failed: 0, success: false, changedFirst: 7, controlFirst: 0, pairs: 20 };
    const { id } = await givenRollout(ctx, {
      definition: { gates: { compare: { minEffectPercent: 10, minPairs: 5, onTooFew: 'goOn' } } },
      rings: [{ overruled, counts: { ...emptyCounts(), pairs: 80 }, taken: 2 }, undefined, { taken: 5 }],
      state: 'running',
    });
    const points = [
      { pairs: 19, changedFirst: 6, controlFirst: 0 },
      { pairs: 21, changedFirst: 8, controlFirst: 0 },
      { pairs: 80, changedFirst: 11, controlFirst: 1 },
    ];
    for (const [minute, point] of points.entries())
      await ctx.db
        .insert(rolloutCurve)
        .values({ rolloutId: id, ring: 0, at: at(minute), decided: 80, failed: 9, ...point });
    const { items } = await getCurve(viewer, { id });
    // Only the first ring has or had candidates. Ten percent of 60 pairs are more than the nine of the test.
    expect(items.map(({ difference, haltsAt }) => [difference, haltsAt])).toEqual([
      [6, 7],
      [1, 7],
      [3, 9],
    ]);
    expect(items.map(({ low, high }) => [Math.round(low * 100), Math.round(high * 100)])).toEqual([
      [49, 100],
      [5, 100],
      [26, 100],
    ]);
  });

  test('of an unknown rollout or ring is not returned', async () => {
    expect(await outcomeOf(getCurve(viewer, { id: unknown }))).toBe('not_found rollout_unknown');
    const { id } = await givenRollout(ctx);
    expect(await outcomeOf(getCurve(viewer, { id, ring: 20 }))).toBe('unprocessable invalid; /ring field_too_big');
  });
});
