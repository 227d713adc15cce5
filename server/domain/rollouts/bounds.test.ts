import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { rollouts } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { createRollout, getRollout, listRollouts, requestPlan, startRollout, updateRollout } from './index.ts';
import type { DefinitionInput } from './read-definition.ts';
import { changeRollout } from './rows.ts';
import { givenRollout, planHash, probeDefinition, rowOf } from './testing/given-rollout.ts';

let ctx: Context;
beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
});

const create = (change: object) => createRollout(ctx, { ...probeDefinition, ...change } as DefinitionInput);
const invalid = (...faults: string[]) => ['unprocessable invalid', ...faults].join('; ');
const [canary, tenth, last] = probeDefinition.rings;

describe('names and notes', () => {
  test.each<[string, string]>([
    ['one character', 'x'],
    ['200 characters', 'ä'.repeat(200)],
    ['200 emoji', '🙂'.repeat(200)],
    ['emoji of several code points', '👩🏽‍💻 and 🇩🇪'],
    ['wildcards and quotation marks', '%_\\\'"`$1 {name} <b>'],
    ['several scripts', 'Выпуск リリース إصدار'],
  ])('of %s are kept as they were given', async (_, name) => {
    const { id } = await create({ name, note: name.repeat(4) });
    const view = await getRollout(ctx, { id });
    expect([view.name, view.note, view.definition.name]).toEqual([name, name.repeat(4), name]);
    const found = await listRollouts(ctx, { q: name });
    expect(found.items.map((item) => item.id)).toContain(id);
  });

  test.each<[string, object, string]>([
    ['no name', { name: '' }, '/name field_empty'],
    ['201 characters', { name: 'x'.repeat(201) }, '/name field_too_long'],
    ['201 emoji', { name: '🙂'.repeat(201) }, '/name field_too_long'],
    ['half an emoji', { name: '\ud83d' }, '/name json_character'],
    ['a NUL', { name: 'a\0b' }, '/name json_character'],
    ['a name that is not text', { name: 7 }, '/name field_not_text'],
    ['a note of 4,001 characters', { note: 'x'.repeat(4_001) }, '/note field_too_long'],
    [
      'a name of a ring with 41 characters',
      { rings: [{ ...last, name: 'x'.repeat(41) }] },
      '/rings/0/name field_too_long',
    ],
  ])('of %s are rejected', async (_, change, fault) => {
    expect(await outcomeOf(create(change))).toBe(invalid(fault));
  });

  test('a note can be removed', async () => {
    const { id, definition } = await create({ note: 'see 1' });
    const removed = await updateRollout(ctx, { id, revision: 1, definition: { ...definition, note: null } });
    expect(removed).toMatchObject({ note: null, revision: 2 });
  });
});

describe('RO-1 ids', () => {
  const ids = (count: number) => Array.from({ length: count }, () => randomUUID());

  test('10,000 of them are kept in their order, whether or not there are such VMs', async () => {
    const given = ids(10_000);
    const { id, counts } = await create({ select: { ids: given } });
    expect((await rowOf(ctx, id)).definition.select).toEqual({ ids: given });
    expect(counts.members).toBe(0);
    expect((await requestPlan(ctx, { id })).state).toBe('planning');
  });

  test('one more is rejected, and nothing is created', async () => {
    const before = await ctx.db.$count(rollouts);
    expect(await outcomeOf(create({ select: { ids: ids(10_001) } }))).toBe(invalid('/select/ids selection_too_large'));
    expect(await ctx.db.$count(rollouts)).toBe(before);
  });

  test('that are given twice, or in upper case, are one VM', async () => {
    const [one = ''] = ids(1);
    const { id } = await create({ select: { ids: [one, one.toUpperCase(), one] } });
    expect((await getRollout(ctx, { id })).definition.select).toEqual({ ids: [one] });
  });

  test.each<[string, object, string]>([
    ['a name instead of an id', { ids: [randomUUID(), 'web-1'] }, '/select/ids/1 field_format'],
    ['one id that is not a list', { ids: randomUUID() }, '/select/ids field_not_array'],
    ['ids with an exception', { ids: [randomUUID()], exclude: { q: 'web' } }, '/select/exclude selection_twice'],
    ['an exception that excludes nothing', { all: true, exclude: {} }, '/select/exclude selection_empty'],
    ['an unknown state of a step', { include: { step: ['stuck'] } }, '/select/include/step/0 field_choice'],
    ['a rollout that is not an ID', { include: { rollout: 'probe' } }, '/select/include/rollout field_format'],
    ['an unknown kind of selection', { vms: 'all' }, '/select/vms field_unknown'],
  ])('%s are rejected', async (_, select, fault) => {
    expect((await outcomeOf(create({ select }))).split('; ')).toContain(fault);
  });
});

describe('a definition is rejected with the path of every fault:', () => {
  const window = { days: ['mon'], from: '22:00', to: '04:00', timeZone: 'Europe/Berlin' };
  test.each<[string, object, string[]]>([
    ['an unknown field', { windws: [] }, ['/windws field_unknown']],
    ['an unknown field of a ring', { rings: [{ ...last, soak: 3 }] }, ['/rings/0/soak field_unknown']],
    [
      'an unknown field of a filter of a ring',
      { rings: [{ name: 'a', filter: { tag: 1 } }, last] },
      ['/rings/0/filter selection_empty', '/rings/0/filter/tag field_unknown'],
    ],
    [
      'an empty filter of a ring',
      { rings: [{ name: 'a', filter: { tags: [] } }, last] },
      ['/rings/0/filter selection_empty'],
    ],
    ['no ring', { rings: [] }, ['/rings field_too_few']],
    ['rings that end early', { rings: [canary, tenth] }, ['/rings/1/upTo ring_last']],
    ['shares that fall', { rings: [tenth, { name: 'b', upTo: { percent: 40 } }, last] }, ['/rings/1/upTo ring_shares']],
    [
      'a share with three decimal places',
      { rings: [{ name: 'a', upTo: { percent: 0.001 } }, last] },
      ['/rings/0/upTo/percent percent_places'],
    ],
    [
      'a share of nothing',
      { rings: [{ name: 'a', upTo: { percent: 0 } }, last] },
      ['/rings/0/upTo/percent percent_zero'],
    ],
    ['rings of a bulk act', { kind: 'bulk' }, ['/rings bulk_one_ring']],
    ['a kind that only the portal makes', { kind: 'revert' }, ['/kind field_choice']],
    ['a window that is empty', { windows: [{ ...window, to: '22:00' }] }, ['/windows/0/to window_empty']],
    [
      'a time zone that does not exist',
      { windows: [{ ...window, timeZone: 'Europe/Bonn' }] },
      ['/windows/0/timeZone time_zone_unknown'],
    ],
    ['an hour that does not exist', { windows: [{ ...window, from: '24:00' }] }, ['/windows/0/from time_of_day_form']],
    ['15 windows', { windows: Array.from({ length: 15 }, () => window) }, ['/windows field_too_many']],
    ['a rate of nothing', { stepsPerSecond: 0 }, ['/stepsPerSecond field_too_small']],
    ['a rate above the limit', { stepsPerSecond: 5_001 }, ['/stepsPerSecond field_too_big']],
    ['more than 20,000 in flight', { gates: { inFlight: { count: 20_001 } } }, ['/gates/inFlight/count field_too_big']],
    ['a start without a time zone', { startAt: '2030-01-01T00:00:00' }, ['/startAt field_format']],
    ['a strategy that does not exist', { strategy: 'bold' }, []],
    ['a change that changes nothing', { change: { kind: 'set', handler: 'Acme.Lab.Probe' } }, ['/change change_empty']],
    [
      'an installation without a name',
      { change: { ...probeDefinition.change, onAbsent: 'install' } },
      ['/change/extension extension_name_needed'],
    ],
    [
      'a version that is none',
      { change: { ...probeDefinition.change, version: 'latest' } },
      ['/change/version version_form'],
    ],
    [
      'settings of a removal',
      { change: { kind: 'remove', handler: 'Acme.Lab.Probe', version: '1.0.0.0' } },
      ['/change/version change_field_unused'],
    ],
    [
      'several faults',
      { name: '', stepsPerSecond: 0, select: {} },
      ['/name field_empty', '/select selection_empty', '/stepsPerSecond field_too_small'],
    ],
  ])('%s', async (_, change, faults) => {
    const before = await ctx.db.$count(rollouts);
    const expected = faults.length === 0 ? 'not_found strategy_unknown' : invalid(...faults);
    expect((await outcomeOf(create(change))).split('; ').toSorted()).toEqual(expected.split('; ').toSorted());
    expect(await ctx.db.$count(rollouts)).toBe(before);
  });

  test('an edit is read as strictly as a new definition, and changes nothing if it is rejected', async () => {
    const { id, definition } = await givenRollout(ctx, { state: 'planned' });
    const before = await rowOf(ctx, id);
    const edited = { ...definition, windws: [], stepsPerSecond: 0 };
    const faults = ['/stepsPerSecond field_too_small', '/windws field_unknown'];
    expect(await outcomeOf(updateRollout(ctx, { id, revision: 1, definition: edited }))).toBe(invalid(...faults));
    expect(await outcomeOf(updateRollout(ctx, { id, revision: 1, definition: null }))).toBe(
      invalid(' field_not_object'),
    );
    expect(await rowOf(ctx, id)).toEqual(before);
  });
});

test('a definition of the largest size is accepted, and one byte more is not', async () => {
  const { id } = await create({ name: 'sized' });
  const bytes = Buffer.byteLength(JSON.stringify((await rowOf(ctx, id)).definition));
  const limited = (definitionBytes: number): Context => {
    const limits = { ...ctx.config.limits, rollouts: { ...ctx.config.limits.rollouts, definitionBytes } };
    return { ...ctx, config: { ...ctx.config, limits } };
  };
  expect(await outcomeOf(createRollout(limited(bytes), probeDefinition))).toBe('done');
  await expect(createRollout(limited(bytes - 1), probeDefinition)).rejects.toMatchObject({
    ...{ kind: 'unprocessable', code: 'definition_too_large', params: { limit: bytes - 1 } },
  });
});

describe('a start', () => {
  test('is answered immediately without a wait, and with one reports the state that the worker left', async () => {
    const { id } = await givenRollout(ctx, { state: 'planned' });
    expect((await startRollout(ctx, { id, plan: planHash, wait: 0 })).state).toBe('checking');
    const waits = Promise.withResolvers<void>();
    const listen: typeof ctx.wakes.listen = (...terms) => {
      waits.resolve();
      return ctx.wakes.listen(...terms);
    };
    const answer = startRollout({ ...ctx, wakes: { listen } }, { id, plan: planHash, wait: 30 });
    await waits.promise;
    const why = [{ code: 'plan_moved_on', params: { moved: 3 } }];
    await ctx.db.transaction((tx) => changeRollout(tx, { id }, { state: 'planned', why }));
    expect(await answer).toMatchObject({ state: 'planned', why, needsPerson: true });
  });

  test.each<[string, object, string]>([
    ['an empty hash', { plan: '' }, '/plan field_empty'],
    ['a long hash', { plan: 'x'.repeat(101) }, '/plan field_too_long'],
    ['an overlap that is not an ID', { acceptOverlap: ['first'] }, '/acceptOverlap/0 field_format'],
    ['a long wait', { wait: 31 }, '/wait field_too_big'],
    ['a wait below zero', { wait: -1 }, '/wait field_too_small'],
  ])('with %s is rejected', async (_, terms, fault) => {
    const { id } = await givenRollout(ctx, { state: 'planned' });
    expect(await outcomeOf(startRollout(ctx, { id, plan: planHash, ...terms }))).toBe(invalid(fault));
  });
});
