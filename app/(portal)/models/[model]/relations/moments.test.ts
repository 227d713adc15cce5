import { describe, expect, it } from 'vitest';
import {
  changedCells,
  countDifferences,
  differs,
  filterNodes,
  isUnseen,
  momentAsJson,
  type NodeFilter,
  readersOf,
  sideTables,
  unitsBehind,
  writerOf,
} from './moments.ts';
import {
  type Moment,
  momentOf,
  type NodeValue,
  type RelationEvent,
  relationTitle,
  type ShownNode,
  type ShownReader,
} from './relation-data.ts';

const now = Date.parse('2026-11-29T12:00:00.000Z');
const value = (text: string | null, masked = text === null): NodeValue => ({ bytes: 3, masked, value: text });
const node = (
  unit: string,
  side: ShownNode['side'],
  values: Record<string, string | null> = {},
  more: Partial<ShownNode> = {},
): ShownNode => ({
  ...{ unit, side, version: 1, bytes: 0, confirmedBy: 0 },
  written: { clock: 1, at: '2026-11-29T11:50:00.000Z', run: null },
  values: new Map(Object.entries(values).map(([key, text]) => [key, value(text)])),
  ...more,
});
const moment = (...nodes: ShownNode[]): Moment => ({ clock: 4, nodes, leftOut: 0 });
const event = (clock: number, unit: string, ...keys: string[]): RelationEvent => ({
  ...{ clock, unit, at: '', kind: 'changed', version: 1, run: null },
  changes: keys.map((key) => ({ key, masked: false, before: null, after: null })),
});
const endpoints = [
  { side: 'requires' as const, service: 'blog', name: 'db' },
  { side: 'provides' as const, service: 'store', name: 'feed' },
];
const [store, blog0, blog1] = [
  node('store/0', 'provides', { host: '"a"' }),
  node('blog/0', 'requires', { pool: '1' }),
  node('blog/1', 'requires', { pool: '2', size: '3' }),
];

describe('EN-73 the settings of a relation', () => {
  it('have a table for each side, with the keys that any unit has', () => {
    expect(sideTables({ endpoints }, moment(store, blog0, blog1))).toEqual([
      { side: 'provides', service: 'store', name: 'feed', units: ['store/0'], keys: ['host'] },
      { side: 'requires', service: 'blog', name: 'db', units: ['blog/0', 'blog/1'], keys: ['pool', 'size'] },
    ]);
  });

  it('of two moments list units and keys of both', () => {
    const earlier = moment(node('store/0', 'provides', { port: '1' }), node('store/1', 'provides'));
    expect(sideTables({ endpoints }, moment(store), earlier)[0]).toMatchObject({
      ...{ units: ['store/0', 'store/1'], keys: ['host', 'port'] },
    });
  });

  it('of a relation among peers have one table', () => {
    const peers = { endpoints: [{ side: 'peer' as const, service: 'ring', name: 'ring' }] };
    expect(sideTables(peers, moment(node('ring/0', 'peer'), node('ring/1', 'peer')))).toMatchObject([
      { units: ['ring/0', 'ring/1'] },
    ]);
    expect(readersOf(node('ring/0', 'peer'), [node('ring/0', 'peer'), node('ring/1', 'peer')])).toBe(1);
  });

  it.each([
    [store, 2, true],
    [{ ...store, confirmedBy: 2 }, 2, false],
    [{ ...blog0, confirmedBy: 1 }, 1, false],
  ])('are read by the units of the other side', (of, readers, expected) => {
    const nodes = [store, blog0, blog1];
    expect([readersOf(of, nodes), isUnseen(of, nodes)]).toEqual([readers, expected]);
  });

  it('are read from both answers', () => {
    const shared = { ...store, keys: [{ key: 'host', bytes: 3, masked: false }] };
    const viewer = momentOf({ clock: 1, nodes: [shared], leftOut: { nodes: 2 } } as never);
    expect(viewer).toMatchObject({ leftOut: 2, nodes: [{ unit: 'store/0' }] });
    expect(viewer.nodes[0]?.values.get('host')).toEqual({ bytes: 3, masked: false, value: null });
    const settings = [{ key: 'host', bytes: 3, masked: false, value: '"a"' }];
    const operator = momentOf({ clock: 1, nodes: [{ ...store, settings }] } as never);
    expect(operator.nodes[0]?.values.get('host')).toMatchObject({ value: '"a"' });
  });

  it('are copied as JSON without values that are masked', () => {
    const text = momentAsJson(
      moment(
        node('store/0', 'provides', { host: '"a"', password: null, big: '9007199254740993' }),
        node('blog/0', 'requires'),
      ),
    );
    expect(JSON.parse(text)).toMatchObject({ 'store/0': { host: 'a' }, 'blog/0': {} });
    expect(text).toContain('9007199254740993');
    expect(text).not.toContain('password');
  });
});

describe('EN-74 two moments', () => {
  const events = [
    event(5, 'store/0', 'host'),
    event(4, 'store/0', 'port'),
    event(3, 'blog/0', 'pool'),
    event(2, 'store/0', 'host'),
  ];

  it.each([
    [2, 4, ['store/0 port', 'blog/0 pool']],
    [4, 2, ['store/0 port', 'blog/0 pool']],
    [5, 5, []],
  ])('between %i and %i changed', (from, to, expected) => {
    expect([...changedCells(events, from, to)]).toEqual(expected);
  });

  it.each([
    [value('1'), value('1'), true, false],
    [value('1'), value('2'), false, true],
    [undefined, value('1'), false, true],
    [value('1'), undefined, false, true],
    [undefined, undefined, true, false],
    [value(null), value(null), true, true],
    [value(null), value(null), false, false],
  ])('%j and %j differ', (one, other, isChanged, expected) => {
    expect(differs(one, other, isChanged)).toBe(expected);
  });

  it('are compared by value', () => {
    const later = moment(node('store/0', 'provides', { host: '"b"', port: '1' }), blog0);
    expect(countDifferences(moment(store, blog0), later, new Set())).toBe(2);
    expect(countDifferences(moment(store), moment(), new Set())).toBe(1);
  });

  it.each([
    ['host', 5, 5],
    ['host', 4, 2],
    ['port', 3, undefined],
    ['user', 5, undefined],
  ])('%s at %i was written by event %j', (key, clock, expected) => {
    expect(writerOf(events, { unit: 'store/0', key, clock })?.clock).toBe(expected);
  });
});

describe('the filter of many participants', () => {
  const nodes = [store, blog0, { ...blog1, confirmedBy: 1, written: null }];
  const all: NodeFilter = { search: '', withinMinutes: null, behind: false };
  it.each<[string, Partial<NodeFilter>, string[]]>([
    ['nothing', {}, ['store/0', 'blog/0', 'blog/1']],
    ['a name', { search: ' BLOG ' }, ['blog/0', 'blog/1']],
    ['a key', { search: 'size' }, ['blog/1']],
    ['a value', { search: '"a"' }, ['store/0']],
    ['a recent change', { withinMinutes: 10 }, ['store/0', 'blog/0']],
    ['a more recent change', { withinMinutes: 5 }, []],
    ['units behind', { behind: true }, ['store/0', 'blog/0']],
  ])('selects by %s', (_, filter, expected) => {
    expect(filterNodes(nodes, { ...all, ...filter }, now).map(({ unit }) => unit)).toEqual(expected);
  });
});

it('a relation is named by its endpoints, who requires first', () => {
  expect(relationTitle({ endpoints: endpoints.toReversed() })).toBe('blog:db, store:feed');
});

it('units behind are sorted by urgency, without those whose hook fails', () => {
  const reader = (unit: string, why: ShownReader['why']) => ({
    unit,
    why,
    confirmed: why === null,
    version: 1,
    at: null,
  });
  const readers = [
    reader('a/0', 'waiting'),
    reader('a/1', 'failing'),
    reader('a/2', null),
    reader('a/3', 'silent'),
    reader('a/4', 'running'),
  ];
  expect(unitsBehind({ readers }).map(({ unit }) => unit)).toEqual(['a/3', 'a/4', 'a/0']);
});
