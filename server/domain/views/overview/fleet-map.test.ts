import { describe, expect, test } from 'vitest';
import { extensionHealths, healthLetters, rankOf } from '#server/domain/verdicts/index.ts';
import { FleetCopy, recordBytes } from './fleet-copy.ts';
import { arrange, drawMap, type GroupRows, idAt, packCells, worstByPlace } from './fleet-map.ts';

const letters = (text: string) => Uint8Array.from(text, (letter) => healthLetters.indexOf(letter));

test.each([
  ['', ''],
  ['h', 'h'],
  ['hh', 'h2'],
  ['hhhhf', 'h4f'],
  ['fhf', 'fhf'],
  ['fffuuuddd', 'f3u3d3'],
  ['h'.repeat(100_000), 'h100000'],
  ['kkxx', 'k2x2'],
])('cells %j are packed as %j', (cells, packed) => {
  expect(packCells(letters(cells))).toBe(packed);
});

test('every health has a letter that is not a digit, so that packed cells can be read', () => {
  for (const health of extensionHealths) {
    const packed = packCells(Uint8Array.from([rankOf(health), rankOf(health)]));
    expect(packed).toMatch(/^[a-z]2$/);
  }
  expect(new Set(healthLetters).size).toBe(extensionHealths.length);
});

test.each<[string, [place: number, health: number][], [number, number][]]>([
  ['nothing', [], []],
  [
    'one cell of each VM stays',
    [
      [1, 5],
      [0, 0],
    ],
    [
      [0, 0],
      [1, 5],
    ],
  ],
  [
    'the worst of a VM',
    [
      [3, 5],
      [3, 0],
      [3, 2],
    ],
    [[3, 0]],
  ],
  [
    'the same twice',
    [
      [3, 5],
      [3, 5],
    ],
    [[3, 5]],
  ],
  [
    'VMs apart',
    [
      [2, 6],
      [1, 5],
      [2, 4],
      [1, 6],
    ],
    [
      [1, 5],
      [2, 4],
    ],
  ],
])('the worst cells by position: %s', (_, given, expected) => {
  const packed = (cells: readonly [number, number][]) =>
    Uint32Array.from(cells, ([place, health]) => place * 8 + health);
  expect(worstByPlace(packed(given))).toEqual(packed(expected));
});

describe('the arrangement of groups', () => {
  const ids = new Uint8Array(40 * 16).map((_, at) => (at % 16 === 15 ? Math.floor(at / 16) : 0));
  const group = (key: string | null, ...places: number[]): GroupRows => ({
    key,
    cells: Uint32Array.from(places, (place) => place * 8 + rankOf('healthy')),
  });
  const shown = (rows: readonly GroupRows[]) =>
    arrange('tag:site', rows, ids).order.groups.map(
      ({ key, rest, places }) => `${rest ? 'rest' : key}:${places.length}`,
    );
  /** Returns groups of these sizes, with keys in descending order. */
  const sized = (...sizes: number[]) => {
    let next = 0;
    return sizes.map((size, at) => {
      const places = Array.from({ length: size }, () => next++);
      return group(`g${String(99 - at)}`, ...places);
    });
  };

  test.each<[string, GroupRows[], string[]]>([
    ['none', [], []],
    ['by key, whatever their size', [group('b', 0, 1, 2), group('a', 3)], ['a:1', 'b:3']],
    ['capital letters first', [group('a', 0), group('B', 1)], ['B:1', 'a:1']],
    ['VMs without the tag last', [group(null, 0), group('z', 1), group('', 2)], [':1', 'z:1', 'null:1']],
    ['empty groups are left out', [group('a'), group('b', 1)], ['b:1']],
  ])('%s', (_, rows, expected) => {
    expect(shown(rows)).toEqual(expected);
  });

  test('24 groups are kept, and of 25 the two smallest are combined', () => {
    const sizes = Array.from({ length: 24 }, () => 1);
    expect(shown(sized(...sizes))).toHaveLength(24);
    const folded = shown(sized(...sizes, 1));
    expect(folded).toHaveLength(24);
    expect(folded.at(-1)).toBe('rest:2');
  });

  test('of groups of one size, the last by key are combined', () => {
    const folded = shown(sized(...Array.from({ length: 26 }, () => 1)));
    expect(folded).not.toContain('g99:1');
    expect(folded).toContain('g74:1');
  });

  test('the combined group counts a VM once, with its worst health', () => {
    const many = Array.from({ length: 23 }, (_, at) => group(`many${at}`, 0, 1, 2, 3));
    const failing: GroupRows = { key: 'y', cells: Uint32Array.from([5 * 8 + rankOf('failed')]) };
    const { order, healths } = arrange('handler', [...many, group('x', 4, 5), failing], ids);
    expect(drawMap(order, healths).groups.at(-1)).toEqual({
      ...{ key: null, rest: true, count: 2, failed: 1, unresponsive: 0 },
      cells: 'hf',
    });
  });

  test('a position leads to the id of its VM; a position after the last VM has no id', () => {
    const { order } = arrange('none', [group('a', 7, 3), group('b', 12)], ids);
    expect(idAt(order, 0, 0)).toBe('00000000-0000-0000-0000-000000000007');
    expect(idAt(order, 0, 1)).toBe('00000000-0000-0000-0000-000000000003');
    expect(idAt(order, 1, 0)).toBe('00000000-0000-0000-0000-00000000000c');
    expect([idAt(order, 1, 1), idAt(order, 2, 0)]).toEqual([null, null]);
  });

  test.each<[string, () => string, boolean]>([
    ['the same fleet', () => arrange('none', [group('a', 0, 1)], ids).order.revision, true],
    ['another grouping', () => arrange('handler', [group('a', 0, 1)], ids).order.revision, false],
    ['another group', () => arrange('none', [group('b', 0, 1)], ids).order.revision, false],
    ['another order', () => arrange('none', [group('a', 1, 0)], ids).order.revision, false],
    ['a VM more', () => arrange('none', [group('a', 0, 1, 2)], ids).order.revision, false],
    ['a border between groups', () => arrange('none', [group('a', 0), group('b', 1)], ids).order.revision, false],
    ['other ids', () => arrange('none', [group('a', 0, 1)], ids.toReversed()).order.revision, false],
  ])('the revision of %s', (_, other, isSame) => {
    const { revision } = arrange('none', [group('a', 0, 1)], ids).order;
    expect(other() === revision).toBe(isSame);
  });

  test('the revision does not depend on health', () => {
    const failed: GroupRows = { key: 'a', cells: Uint32Array.from([0, 8]) };
    expect(arrange('none', [failed], ids).order.revision).toBe(arrange('none', [group('a', 0, 1)], ids).order.revision);
  });
});

describe('a copy of the fleet', () => {
  interface Vm {
    id: number;
    print: number;
    rank: number;
  }

  function recordsOf(fleet: readonly Vm[]): Uint8Array {
    const bytes = new Uint8Array(fleet.length * recordBytes);
    const view = new DataView(bytes.buffer);
    fleet.forEach(({ id, print, rank }, at) => {
      view.setUint32(at * recordBytes + 12, id);
      view.setInt32(at * recordBytes + 16, print);
      view.setInt16(at * recordBytes + 20, rank);
    });
    return bytes;
  }
  // These ids hash to only a few slots of the table, so that they collide.
  const fleet = Array.from({ length: 300 }, (_, at): Vm => ({ id: at * 65_536, print: -at, rank: 5 }));
  const copyOf = (vms: readonly Vm[]) => new FleetCopy('none', { seen: '1', count: vms.length }, recordsOf(vms), null);

  test('after any changes of health, the map equals the map of a copy that is read again', () => {
    const copy = copyOf(fleet);
    let state = 7;
    const next = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state % below;
    };
    const current = fleet.map((vm) => ({ ...vm }));
    for (let round = 0; round < 50; round += 1) {
      const changed = Array.from({ length: next(6) }, () => current[next(current.length)] as Vm);
      for (const vm of changed) vm.rank = next(6);
      expect(copy.take(String(round), recordsOf(changed), fleet.length)).toBe(true);
      expect(copy.map()).toEqual(copyOf(current).map());
    }
    expect(copy.seen).toBe('49');
  });

  test.each<[string, Vm[], number]>([
    ['a VM that the copy does not have', [{ id: 1, print: 0, rank: 0 }], 300],
    ['a VM with another name or other tags', [{ id: 65_536, print: 5, rank: 0 }], 300],
    ['one VM more by the counters', [], 301],
    ['one VM fewer by the counters', [], 299],
  ])('cannot apply %s', (_, changed, count) => {
    expect(copyOf(fleet).take('2', recordsOf(changed), count)).toBe(false);
  });

  test('of an empty fleet has no groups, and takes no VM', () => {
    const empty = copyOf([]);
    expect(empty.map().groups).toEqual([]);
    expect(empty.take('2', new Uint8Array(), 0)).toBe(true);
    expect(empty.take('2', recordsOf(fleet.slice(0, 1)), 0)).toBe(false);
  });
});
