import { desc, eq } from 'drizzle-orm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { auditEntries, rolloutStrategies } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { changesSince, markOf, outcomeOf } from '#server/testing/records.ts';
import { createRollout, getRollout, listStrategies, removeStrategy, setStrategy, updateRollout } from './index.ts';
import type { SetStrategyInput } from './strategies.ts';
import { asPerson, givenRollout, probeDefinition } from './testing/given-rollout.ts';

let ctx: Context;
let admin: Context;
let viewer: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  admin = await testContext({ services: ctx, role: 'admin' });
  viewer = await testContext({ services: ctx, role: 'viewer' });
});
beforeEach(async () => {
  await ctx.db.delete(rolloutStrategies);
});

const rings = [
  { name: 'canary', upTo: { count: 1 } },
  { name: 'all', upTo: { percent: 100 } },
];
const set = (as: Context, input: object) => setStrategy(as, { name: 'nightly', rings, ...input } as SetStrategyInput);

test('a strategy without rings is rejected, and nothing is saved', async () => {
  expect(await outcomeOf(set(ctx, { rings: undefined }))).toMatch('/rings field_missing');
  expect(await outcomeOf(setStrategy(ctx, { name: 'nightly' } as SetStrategyInput))).toMatch('/rings field_missing');
  expect(await ctx.db.$count(rolloutStrategies)).toBe(0);
});
const find = async (name: string) => (await listStrategies(viewer)).items.find((one) => one.name === name);
const automatic = async () =>
  Object.fromEntries((await listStrategies(viewer)).items.map(({ name, automaticFor }) => [name, automaticFor]));

describe('the list of strategies', () => {
  test('begins with the built-in ones, each complete', async () => {
    const { items } = await listStrategies(viewer);
    expect(items.map(({ name, builtIn, changedAt, changedBy }) => [name, builtIn, changedAt, changedBy])).toEqual([
      ['careful', true, null, null],
      ['automatic', true, null, null],
      ['at-once', true, null, null],
    ]);
    const shares = items.map(({ strategy }) => (strategy.rings as { upTo: object }[]).map(({ upTo }) => upTo));
    const percents = (...all: number[]) => all.map((percent) => ({ percent }));
    expect(shares).toEqual([percents(1, 10, 50, 100), percents(1, 20, 100), percents(100)]);
  });

  test('continues with the saved ones by name', async () => {
    for (const name of ['zebra', 'Ärmel 2', 'alpha']) await set(ctx, { name });
    const saved = (await listStrategies(viewer)).items.filter(({ builtIn }) => !builtIn);
    expect(saved.map(({ name }) => name).toSorted()).toEqual(['alpha', 'zebra', 'Ärmel 2'].toSorted());
    expect(saved.every(({ changedBy }) => changedBy === 'Test operator')).toBe(true);
  });

  test('returns a strategy as it can be set again, without a change', async () => {
    const given = { gates: { soakSeconds: 60, errors: null }, silent: 'skip', onHalt: 'revert', retry: { times: 2 } };
    const saved = await set(ctx, given);
    expect(saved.strategy).toMatchObject({ silent: 'skip', onHalt: 'revert', retry: { times: 2, afterSeconds: 300 } });
    const mark = await markOf(ctx.db);
    const later = { ...asPerson(ctx, 'ada'), now: new Date(ctx.now.getTime() + 1_000) };
    expect(await setStrategy(later, { name: 'nightly', ...saved.strategy } as SetStrategyInput)).toEqual(saved);
    expect(await changesSince(ctx.db, mark)).toEqual([]);
  });
});

describe('setting a strategy', () => {
  test('is recorded with what it was before and is after', async () => {
    await set(ctx, { name: 'recorded', gates: { soakSeconds: 60 } });
    const mark = await markOf(ctx.db);
    await set(asPerson(ctx, 'ada'), { name: 'recorded', gates: { soakSeconds: 120 } });
    expect(await changesSince(ctx.db, mark)).toEqual(['rollout *']);
    const acts = await ctx.db.select().from(auditEntries).where(eq(auditEntries.targetId, 'recorded'));
    expect(acts.map(({ actorName, targetId }) => [actorName, targetId])).toEqual([
      ['Test operator', 'recorded'],
      ['ada', 'recorded'],
    ]);
    const soaks = [{ gates: { soakSeconds: 60 } }, { gates: { soakSeconds: 60 } }];
    expect(acts[0]?.before).toBeNull();
    expect(acts[1]?.before).toMatchObject({ strategy: { rings: soaks } });
    expect(await find('recorded')).toMatchObject({ changedBy: 'ada' });
  });

  test.each<[string, object, string[]]>([
    ['an empty name', { name: '' }, ['/name field_empty', '/name strategy_name_form']],
    ['a name with a slash', { name: 'a/b' }, ['/name strategy_name_form']],
    ['a name that ends with a space', { name: 'night ' }, ['/name strategy_name_form']],
    ['a long name', { name: 'x'.repeat(101) }, ['/name field_too_long']],
    ['no ring', { rings: [] }, ['/rings field_too_few']],
    ['more than 20 rings', { rings: Array.from({ length: 21 }, () => rings[1]) }, ['/rings field_too_many']],
    [
      'rings that do not reach everything',
      { rings: [{ name: 'a', upTo: { percent: 50 } }] },
      ['/rings/0/upTo ring_last'],
    ],
    [
      'shares that do not rise',
      { rings: [{ name: 'a', upTo: { percent: 50 } }, { name: 'b', upTo: { percent: 50 } }, rings[1]] },
      ['/rings/1/upTo ring_shares'],
    ],
    ['a ring without a name', { rings: [{ name: '', upTo: { percent: 100 } }] }, ['/rings/0/name field_empty']],
    ['a field of definitions', { keepDays: 3 }, ['/keepDays field_unknown']],
    ['a misspelt gate', { gates: { soak: 3 } }, ['/gates/soak field_unknown']],
    ['a limit in two forms', { gates: { inFlight: { percent: 1, count: 1 } } }, ['/gates/inFlight limit_form']],
    ['a word that does not exist', { silent: 'maybe' }, ['/silent field_choice']],
    ['more than three retries', { retry: { times: 4 } }, ['/retry/times field_too_big']],
    [
      'several faults at once',
      { silent: 'maybe', onHalt: 'stop', gates: { bakeSeconds: -1 } },
      ['/gates/bakeSeconds field_too_small', '/silent field_choice', '/onHalt field_choice'],
    ],
  ])('rejects %s', async (_, input, faults) => {
    const [outcome, ...found] = (await outcomeOf(set(ctx, input))).split('; ');
    expect([outcome, ...found.toSorted()]).toEqual(['unprocessable invalid', ...faults.toSorted()]);
    expect(await find('nightly')).toBeUndefined();
  });

  test('needs an operator', async () => {
    expect(await outcomeOf(set(viewer, {}))).toBe('forbidden forbidden');
    await set(ctx, {});
    expect(await outcomeOf(removeStrategy(viewer, { name: 'nightly' }))).toBe('forbidden forbidden');
  });

  test('of the same name by two people leaves one of the two', async () => {
    const [one, other] = [asPerson(ctx, 'ada'), asPerson(ctx, 'bob')];
    const saved = await Promise.all([
      set(one, { gates: { soakSeconds: 1 } }),
      set(other, { gates: { soakSeconds: 2 } }),
    ]);
    expect((await listStrategies(viewer)).items.filter(({ builtIn }) => !builtIn)).toHaveLength(1);
    expect(saved).toContainEqual(await find('nightly'));
  });
});

describe('strategies of automatic upgrades', () => {
  test('are one for each handler, and one for all others', async () => {
    await set(admin, { name: 'a', automaticFor: ['Acme.Lab.Probe', 'Acme.Lab.Other', 'Acme.Lab.Probe'] });
    await set(admin, { name: 'b', automaticFor: '*' });
    expect(await automatic()).toMatchObject({ a: ['Acme.Lab.Probe', 'Acme.Lab.Other'], b: ['*'] });
    await setStrategy(admin, { name: 'careful', automaticFor: ['Acme.Lab.Other'] });
    await set(admin, { name: 'c', automaticFor: '*' });
    expect(await automatic()).toMatchObject({ a: ['Acme.Lab.Probe'], b: [], c: ['*'], careful: ['Acme.Lab.Other'] });
  });

  test('are chosen and released by admins only', async () => {
    await set(admin, { automaticFor: ['Acme.Lab.Probe'] });
    for (const change of [{}, { automaticFor: [] }, { automaticFor: ['Acme.Lab.Other'] }]) {
      expect(await outcomeOf(set(ctx, change))).toBe('forbidden forbidden');
    }
    expect(await outcomeOf(removeStrategy(ctx, { name: 'nightly' }))).toBe('forbidden forbidden');
    const same = { automaticFor: ['Acme.Lab.Probe'], gates: { soakSeconds: 9 } };
    expect(await outcomeOf(set(ctx, same))).toBe('done');
    expect(await outcomeOf(removeStrategy(admin, { name: 'nightly' }))).toBe('done');
  });

  test('are still one for each handler after two admins chose at the same time', async () => {
    await set(admin, { name: 'a', automaticFor: ['X.Y.A'] });
    await set(admin, { name: 'b', automaticFor: ['X.Y.B'] });
    const swapped = [
      set(admin, { name: 'a', automaticFor: ['X.Y.B'] }),
      set(asPerson(admin, 'ada'), { name: 'b', automaticFor: ['X.Y.A'] }),
    ];
    expect(await Promise.all(swapped.map(outcomeOf))).toEqual(['done', 'done']);
    const both = ['new 1', 'new 2', 'new 3', 'new 4'].map((name) => set(admin, { name, automaticFor: ['X.Y.C'] }));
    expect(await Promise.all(both.map(outcomeOf))).toEqual(['done', 'done', 'done', 'done']);
    const chosen = Object.values(await automatic()).flat();
    expect(chosen.toSorted()).toEqual([...new Set(chosen)].toSorted());
    expect(chosen).toContain('X.Y.C');
  });
});

describe('a deleted strategy', () => {
  test('is recorded, and cannot be used any longer', async () => {
    await set(ctx, { name: 'deleted' });
    await removeStrategy(asPerson(ctx, 'ada'), { name: 'deleted' });
    const [act] = await ctx.db
      .select()
      .from(auditEntries)
      .where(eq(auditEntries.action, 'strategy.remove'))
      .orderBy(desc(auditEntries.id));
    expect(act).toMatchObject({ actorName: 'ada', targetId: 'deleted', details: { name: 'deleted' } });
    expect(act?.before).toMatchObject({ automaticFor: [], strategy: { rings: [{ name: 'canary' }, { name: 'all' }] } });
    const { rings: _, ...definition } = probeDefinition;
    const done = outcomeOf(createRollout(ctx, { ...definition, strategy: 'deleted' }));
    expect(await done).toBe('not_found strategy_unknown');
  });

  test('leaves its rollouts their rings, and they can still be edited', async () => {
    await set(ctx, {});
    const { rings: _, ...definition } = probeDefinition;
    const made = await createRollout(ctx, { ...definition, strategy: 'nightly' });
    const running = await givenRollout(ctx, { state: 'running', definition: { strategy: 'nightly' } });
    await removeStrategy(ctx, { name: 'nightly' });
    for (const { id } of [made, running]) {
      const { revision, definition: before } = await getRollout(ctx, { id });
      const edited = await updateRollout(ctx, { id, revision, definition: { ...before, stepsPerSecond: 1 } });
      expect(edited.definition).toEqual({ ...before, stepsPerSecond: 1 });
    }
    const { revision, definition: before } = await getRollout(ctx, made);
    const other = updateRollout(ctx, { id: made.id, revision, definition: { ...before, strategy: 'other' } });
    expect(await outcomeOf(other)).toBe('not_found strategy_unknown');
  });
});
