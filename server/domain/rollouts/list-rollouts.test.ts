import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { writeCursor } from '#server/domain/cursor.ts';
import { emptyCounts } from '#server/domain/rollout-rules/counts.ts';
import { testContext } from '#server/testing/context.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { countNeeding, listRollouts, removeRollout } from './index.ts';
import type { ListRolloutsInput } from './input.ts';
import { allPages } from './testing/given-machines.ts';
import { type GivenTerms, givenRollout } from './testing/given-rollout.ts';

let ctx: Context;
let viewer: Context;
const idOf = new Map<string, string>();

const machine = 'Acme.Lab.Probe';
const change = (handler: string) => ({ kind: 'set' as const, handler, version: '1.1.0.0' });

/** One rollout a minute, oldest first. */
const given: [name: string, terms: GivenTerms][] = [
  ['100% of web', { state: 'finished', values: { endedAt: new Date(Date.UTC(2026, 0, 1)) } }],
  ['100 of web', { state: 'running' }],
  ['a_b', { state: 'paused', values: { pausedBy: 'gate' } }],
  ['axb', { state: 'aborted' }],
  ['back\\slash', { state: 'draft', definition: { change: change('Acme.Lab.Other') } }],
  ['Grüße 🙂', { state: 'planned', values: { kind: 'automatic' } }],
  ['disable probe', { state: 'keeping', values: { kind: 'bulk' } }],
];

beforeAll(async () => {
  ctx = await testContext({ role: 'operator' });
  viewer = await testContext({ services: ctx, role: 'viewer' });
  for (const [n, [name, terms]] of given.entries()) {
    const now = new Date(Date.UTC(2026, 0, 1, 0, n));
    const definition = { ...terms.definition, name };
    idOf.set(name, (await givenRollout({ ...ctx, now }, { ...terms, definition })).id);
  }
});

const newestFirst = given.map(([name]) => name).toReversed();
const namesOf = async (input: ListRolloutsInput): Promise<string[]> =>
  (await listRollouts(viewer, input)).items.map(({ name }) => name);

test('the rollouts that need a person are exactly those that are counted', async () => {
  const needing = await namesOf({ needing: true });
  expect(needing).toEqual(['a_b']);
  expect((await countNeeding(viewer)).needing).toBe(needing.length);
  expect(await namesOf({ needing: true, q: 'x' })).toEqual([]);
  expect(await namesOf({ needing: false })).toEqual(newestFirst);
});

describe('pages', () => {
  test.each([1, 2, 3, 6, 7, 200])('of %i rollouts add up to the whole list, newest first', async (limit) => {
    const pages = await allPages((cursor) => listRollouts(viewer, { limit, cursor }));
    expect(pages.flat().map(({ name }) => name)).toEqual(newestFirst);
    expect(pages).toHaveLength(Math.ceil(given.length / limit));
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
  });

  test('put the rollouts that have not ended first, across their boundary too', async () => {
    const ended = ['axb', '100% of web'];
    const openFirst = [...newestFirst.filter((name) => !ended.includes(name)), ...ended];
    for (const limit of [1, 4, 5, 6]) {
      const pages = await allPages((cursor) => listRollouts(viewer, { limit, cursor, sort: 'open' }));
      expect(pages.flat().map(({ name }) => name)).toEqual(openFirst);
    }
  });

  test('are complete where several rollouts began at the same moment', async () => {
    const own = await testContext({ role: 'operator', now: new Date(Date.UTC(2026, 0, 1)) });
    const made: string[] = [];
    for (let n = 0; n < 5; n += 1) made.push((await givenRollout(own)).id);
    const pages = await allPages((cursor) => listRollouts(own, { limit: 2, cursor }));
    expect(pages.flat().map(({ id }) => id)).toEqual(made.toSorted().toReversed());
  });

  test('continue after a rollout of an earlier page was deleted', async () => {
    const own = await testContext({ role: 'operator' });
    const made: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      made.unshift((await givenRollout({ ...own, now: new Date(Date.UTC(2026, 0, 1, n)) })).id);
    }
    const first = await listRollouts(own, { limit: 1 });
    await removeRollout(own, { id: made[0] ?? '' });
    const rest = await listRollouts(own, { limit: 5, cursor: first.nextCursor ?? '' });
    expect(rest.items.map(({ id }) => id)).toEqual(made.slice(1));
  });

  const id = '00000000-0000-4000-8000-000000000000';
  test.each([
    ['no cursor', 'x'],
    ['too few keys', writeCursor(['0', '2026-01-01T00:00:00.000Z'])],
    ['too many keys', writeCursor(['0', '2026-01-01T00:00:00.000Z', id, '1'])],
    ['no time', writeCursor(['0', 'yesterday', id])],
    ['a time that only JavaScript reads', writeCursor(['0', '1', id])],
    ['a day that no month has', writeCursor(['0', '2026-02-30T00:00:00.000Z', id])],
    ['a year that PostgreSQL does not have', writeCursor(['0', '0000-01-01T00:00:00.000Z', id])],
    ['no id', writeCursor(['0', '2026-01-01T00:00:00.000Z', 'probe'])],
  ])('reject a cursor with %s', async (_, cursor) => {
    for (const sort of ['newest', 'open'] as const) {
      expect(await outcomeOf(listRollouts(viewer, { cursor, sort }))).toBe('bad_request cursor_invalid');
    }
  });
});

describe('filters', () => {
  test.each<[string, ListRolloutsInput, string[]]>([
    ['one state', { state: ['running'] }, ['100 of web']],
    ['several states', { state: ['draft', 'paused', 'aborted'] }, ['back\\slash', 'axb', 'a_b']],
    ['no state, which is every state', { state: [] }, newestFirst],
    ['a kind', { kind: ['bulk'] }, ['disable probe']],
    ['several kinds', { kind: ['bulk', 'automatic'] }, ['disable probe', 'Grüße 🙂']],
    ['a kind that no rollout has', { kind: ['revert'] }, []],
    ['a handler', { handler: 'Acme.Lab.Other' }, ['back\\slash']],
    ['a handler and a state', { handler: machine, state: ['finished'] }, ['100% of web']],
    ['filters that contradict each other', { handler: 'Acme.Lab.Other', state: ['running'] }, []],
    ['a percent sign as a character', { q: '100%' }, ['100% of web']],
    ['an underscore as a character', { q: 'a_b' }, ['a_b']],
    ['a backslash as a character', { q: 'k\\s' }, ['back\\slash']],
    ['text in any case', { q: 'DISABLE' }, ['disable probe']],
    ['letters with marks', { q: 'grüße' }, ['Grüße 🙂']],
    ['an emoji', { q: '🙂' }, ['Grüße 🙂']],
    ['no text', { q: '' }, newestFirst],
    ['a quotation mark', { q: "'" }, []],
  ])('by %s', async (_, input, names) => {
    expect(await namesOf(input)).toEqual(names);
    const pages = await allPages((cursor) => listRollouts(viewer, { ...input, limit: 1, cursor }));
    expect(pages.flat().map(({ name }) => name)).toEqual(names);
  });

  test('by the rollout that others follow from', async () => {
    const of = idOf.get('100% of web') ?? '';
    const own = { values: { of }, definition: { name: 'follows' } };
    const { id } = await givenRollout({ ...ctx, now: new Date(0) }, own);
    expect((await listRollouts(viewer, { of })).items.map((item) => [item.id, item.of])).toEqual([[id, of]]);
    expect((await listRollouts(viewer, { of: of.toUpperCase() })).items).toHaveLength(1);
    expect((await listRollouts(viewer, { of: id })).items).toEqual([]);
    await removeRollout(ctx, { id });
  });

  test.each<[string, object, string]>([
    ['a state that does not exist', { state: ['started'] }, '/state/0 field_choice'],
    ['a state that is not a list', { state: 'running' }, '/state field_not_array'],
    ['the second of two kinds', { kind: ['bulk', 'big'] }, '/kind/1 field_choice'],
    ['no id', { of: 'probe' }, '/of field_format'],
    ['a long text', { q: 'x'.repeat(201) }, '/q field_too_long'],
    ['no order', { sort: 'oldest' }, '/sort field_choice'],
    ['no rows', { limit: 0 }, '/limit field_too_small'],
    ['too many rows', { limit: 201 }, '/limit field_too_big'],
    ['half a row', { limit: 1.5 }, '/limit field_not_integer'],
    ['a long cursor', { cursor: 'x'.repeat(501) }, '/cursor field_too_long'],
  ])('reject %s with its path', async (_, input, fault) => {
    expect(await outcomeOf(listRollouts(viewer, input))).toBe(`unprocessable invalid; ${fault}`);
  });
});

describe('a row', () => {
  test('has the counts of its rings, which add up', async () => {
    const own = await testContext({ role: 'operator' });
    const counts = { ...emptyCounts(), retrying: 1, soaking: 1, stuck: 1, recalled: 1, reverting: 1 };
    const rings = [{ state: 'passed' as const, counts: { ...emptyCounts(), succeeded: 2 } }, undefined, { counts }];
    await givenRollout(own, { state: 'running', rings });
    const [row] = (await listRollouts(own)).items;
    expect(row?.counts).toMatchObject({ members: 10, queued: 4, inFlight: 2, soaking: 1, succeeded: 2, failed: 1 });
    expect(row?.rings.map(({ name, state, size }) => [name, state, size])).toEqual([
      ['canary', 'passed', 2],
      ['tenth', 'waiting', 3],
      ['all', 'waiting', 5],
    ]);
    for (const { members, ...states } of [row?.counts, ...(row?.rings ?? []).map((ring) => ring.counts)].filter(
      (one) => one !== undefined,
    )) {
      expect(Object.values(states).reduce((sum, n) => sum + n, 0)).toBe(members);
    }
  });

  test('says what changes, without the settings themselves', async () => {
    const own = await testContext({ role: 'operator' });
    const secret = { publicSettings: { merge: { level: 'hidden-level' } }, protectedSettings: { key: 'hunter2' } };
    const definition = { change: { ...change(machine), extension: 'probe', ...secret } };
    await givenRollout(own, { definition });
    const answer = await listRollouts(own);
    expect(answer.items[0]?.change).toEqual({
      ...{ kind: 'set', handler: machine, extension: 'probe', version: '1.1.0.0', state: null, settings: true },
      runbook: null,
    });
    expect(JSON.stringify(answer)).not.toMatch(/hidden-level|hunter2/);
  });

  test('is shown only to signed-in members', async () => {
    const anonymous = await testContext({ services: ctx, role: null });
    expect(await outcomeOf(listRollouts(anonymous))).toBe('unauthenticated unauthenticated');
    const publisher = await testContext({ services: ctx, role: 'publisher' });
    expect((await listRollouts(publisher)).items).toHaveLength(given.length);
  });
});
