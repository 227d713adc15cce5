import { eq } from 'drizzle-orm';
import { v7 as uuid } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import { hookRuns, units } from '#db/schema/index.ts';
import type { FailingHook } from '#server/domain/service-rules/stored.ts';
import type { UnitRow } from '../runs/find-unit.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { readFailures } from './read-failures.ts';

let stage: ServiceStage;
let unit: UnitRow;
/** A run of the unit that failed. */
let run: string;
const endedAt = new Date('2026-11-01T12:00:00.250Z');

beforeAll(async () => {
  stage = await ServiceStage.open();
  const off = await stage.stage.bootstrapped();
  const { units: shown } = await stage.deploy(off, 'blog', await stage.formula('blog'));
  run = await stage.run(shown[0]!, 'install', 1);
  await stage.ctx.db.update(hookRuns).set({ endedAt }).where(eq(hookRuns.id, run));
  [unit] = (await stage.ctx.db.select().from(units)) as [UnitRow];
});

const since = '2026-11-01T11:00:00.000Z';
const failure = (more: Partial<FailingHook> = {}): FailingHook => ({
  ...{ hook: 'install', run, failures: 1, outcome: 'failed' as const, exitCode: 1, since },
  ...more,
});

/** Reads the failures of a unit whose row has these values. */
async function failuresOf(set: Partial<Pick<UnitRow, 'failing' | 'resolutions'>>) {
  await stage.ctx.db.update(units).set(set).where(eq(units.id, unit.id));
  const row = { ...unit, ...set };
  return (await readFailures(stage.ctx.db, [row]))(row);
}

test('a unit on which nothing fails has no failures', async () => {
  expect(await failuresOf({ failing: {} })).toEqual([]);
});

test('EN-49 a failure has its run, its outcome and when it failed first and last', async () => {
  expect(await failuresOf({ failing: { unit: failure() }, resolutions: [] })).toEqual([
    {
      ...{ hook: 'install', run, failures: 1, outcome: 'failed', exitCode: 1, since, relation: null },
      ...{ remoteUnit: null, failedAt: endedAt.toISOString(), resolution: null },
      nextAttemptBefore: '2026-11-01T12:00:05.250Z',
    },
  ]);
});

test.each([
  [1, 5],
  [2, 10],
  [3, 20],
  [4, 40],
  [6, 160],
  [7, 300],
  [50, 300],
])('EN-48 after %i failures the next attempt comes within %i s', async (failures, seconds) => {
  const [shown] = await failuresOf({ failing: { unit: failure({ failures }) } });
  expect(Date.parse(shown?.nextAttemptBefore ?? '') - endedAt.getTime()).toBe(seconds * 1_000);
});

test('a failure whose run is no longer kept has no times', async () => {
  expect(await failuresOf({ failing: { unit: failure({ run: uuid() }) } })).toMatchObject([
    { failedAt: null, nextAttemptBefore: null, since, failures: 1 },
  ]);
});

test.each([
  ['timed-out', null],
  ['refused', 0],
  ['failed', 137],
] as const)('a hook that was %s is shown with the exit code %s', async (outcome, exitCode) => {
  const [shown] = await failuresOf({ failing: { unit: failure({ outcome, exitCode }) } });
  expect(shown).toMatchObject({ outcome, exitCode });
});

describe('EN-50 the decision of an operator', () => {
  const decide = (of: string, how: 'retry' | 'skip') => ({ run: of, how, at: since, by: 'Ada' });

  test.each(['retry', 'skip'] as const)('is shown for the run that failed last: %s', async (how) => {
    const resolutions = [decide(uuid(), 'skip'), decide(run, how)];
    expect(await failuresOf({ failing: { unit: failure() }, resolutions })).toMatchObject([{ resolution: how }]);
  });

  test('about an earlier run is not shown', async () => {
    const resolutions = [decide(uuid(), 'retry')];
    expect(await failuresOf({ failing: { unit: failure() }, resolutions })).toMatchObject([{ resolution: null }]);
  });
});

test('failures of several relations are shown together with that of the unit, each with its member and its decision', async () => {
  const other = failure({ hook: 'db-relation-changed', run: uuid(), remoteUnit: 'mysql/0', failures: 3 });
  const resolutions = [{ run: other.run, how: 'skip' as const, at: since, by: 'Ada' }];
  const shown = await failuresOf({ failing: { unit: failure(), 7: other }, resolutions });
  const facts = shown.map(({ hook, remoteUnit, failures, resolution }) => [hook, remoteUnit, failures, resolution]);
  expect(facts).toEqual(
    expect.arrayContaining([
      ['install', null, 1, null],
      ['db-relation-changed', 'mysql/0', 3, 'skip'],
    ]),
  );
  expect(shown).toHaveLength(2);
});

test('failures of one unit are not shown at another with the same slot', async () => {
  const row = { ...unit, failing: { unit: failure() } };
  const other = { ...unit, id: uuid(), failing: { unit: failure({ run: uuid(), hook: 'start' }) } };
  await stage.ctx.db.update(units).set({ failing: row.failing }).where(eq(units.id, unit.id));
  const read = await readFailures(stage.ctx.db, [row, other]);
  expect([read(row)[0]?.failedAt, read(other)[0]?.failedAt]).toEqual([endedAt.toISOString(), null]);
});
