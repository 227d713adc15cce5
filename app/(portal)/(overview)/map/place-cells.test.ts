import { describe, expect, test } from 'vitest';
import { type CellLayout, type CellPlace, cellAt, cornerOf, layOutCells, step } from './place-cells.ts';
import type { MapStep } from './use-map-cursor.ts';

const given = (counts: number[], { width = 1000, height = 500, ratio = 1 } = {}): CellLayout =>
  layOutCells({ counts, width, height, ratio });

describe.each<[string, number[], object]>([
  ['one VM', [1], {}],
  ['a few in two groups', [3, 5], {}],
  ['groups of very different size', [1, 4210, 2388, 2906, 1604, 1300], {}],
  ['a hundred thousand', [11_111, 33_333, 22_222, 22_222, 11_112], {}],
  ['a hundred thousand on a phone', [11_111, 33_333, 22_222, 22_222, 11_112], { width: 326, height: 560 }],
  ['at 200 % zoom', [700, 300], { width: 1000, height: 600, ratio: 2 }],
  ['at a ratio that is not a whole number', [4000, 300], { width: 1311, height: 623, ratio: 1.25 }],
  ['a million', [1_000_000], { width: 1400, height: 700 }],
])('%s', (_, counts, box) => {
  const layout = given(counts, box);

  test('every cell has its own whole pixels, and each of these pixels maps back to the cell', () => {
    const seen = new Set<string>();
    for (const [group, block] of layout.blocks.entries()) {
      expect(block.cells).toBe(Math.ceil((counts[group] ?? 0) / layout.perCell));
      const stride = Math.max(1, Math.floor(block.cells / 997));
      for (let cell = 0; cell < block.cells; cell += stride) {
        const { x, y } = cornerOf(layout, { group, cell });
        expect(Number.isInteger(x) && Number.isInteger(y)).toBe(true);
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x + layout.cell.x).toBeLessThanOrEqual(layout.width);
        expect(y + layout.cell.y).toBeLessThanOrEqual(layout.height);
        expect(cellAt(layout, x, y)).toEqual({ group, cell });
        expect(cellAt(layout, x + layout.cell.x - 1, y + layout.cell.y - 1)).toEqual({ group, cell });
        seen.add(`${x} ${y}`);
      }
    }
    expect(seen.size).toBeGreaterThan(0);
  });

  test('the last cell of each group can be reached, and nothing beyond it', () => {
    for (const [group, block] of layout.blocks.entries()) {
      const last = cornerOf(layout, { group, cell: block.cells - 1 });
      expect(cellAt(layout, last.x, last.y)).toEqual({ group, cell: block.cells - 1 });
      if (block.cells % block.rows !== 0) expect(cellAt(layout, last.x, last.y + layout.pitch.y)).toBeNull();
    }
  });
});

test.each<[string, CellLayout, Pick<CellLayout, 'pitch' | 'perCell'>]>([
  ['small fleets have the largest cells', given([40]), { pitch: { x: 12, y: 12 }, perCell: 1 }],
  ['large fleets have cells of 3 pixels', given([50_000]), { pitch: { x: 3, y: 3 }, perCell: 1 }],
  ['between two sizes a pixel wider than high', given([38_000]), { pitch: { x: 4, y: 3 }, perCell: 1 }],
  ['beyond that a cell stands for several VMs', given([100_000]), { pitch: { x: 3, y: 3 }, perCell: 2 }],
  [
    'with twice the pixels cells are twice as large',
    given([40], { ratio: 2 }),
    { pitch: { x: 24, y: 24 }, perCell: 1 },
  ],
])('%s', (_, layout, expected) => {
  expect(layout).toMatchObject(expected);
  expect(layout.height).toBeLessThanOrEqual(500);
});

test('groups whose headers do not fit side by side make the map taller, not narrower', () => {
  const layout = given(
    Array.from({ length: 24 }, () => 4_000),
    { width: 326, height: 300 },
  );
  for (const block of layout.blocks) expect(block.x + block.width).toBeLessThanOrEqual(326);
  expect(layout.height).toBeGreaterThan(300);
});

// Two groups side by side: 25 cells in columns of `rows`, then 10 cells.
const two = given([25, 10], { width: 460, height: 100 });
const rows = two.blocks[0]?.rows ?? 0;
test.each<[MapStep, CellPlace, CellPlace]>([
  ['down', { group: 0, cell: 0 }, { group: 0, cell: 1 }],
  ['down', { group: 0, cell: 24 }, { group: 1, cell: 0 }],
  ['down', { group: 1, cell: 9 }, { group: 1, cell: 9 }],
  ['up', { group: 1, cell: 0 }, { group: 0, cell: 24 }],
  ['up', { group: 0, cell: 0 }, { group: 0, cell: 0 }],
  ['right', { group: 0, cell: 0 }, { group: 0, cell: rows }],
  ['left', { group: 0, cell: rows }, { group: 0, cell: 0 }],
  ['right', { group: 0, cell: 24 }, { group: 1, cell: 24 % rows }],
  ['first', { group: 0, cell: 7 }, { group: 0, cell: 0 }],
  ['last', { group: 0, cell: 7 }, { group: 0, cell: 24 }],
  ['nextGroup', { group: 0, cell: 7 }, { group: 1, cell: 0 }],
  ['previousGroup', { group: 1, cell: 7 }, { group: 0, cell: 0 }],
  ['previousGroup', { group: 0, cell: 7 }, { group: 0, cell: 7 }],
])('%s from %o leads to %o', (by, from, to) => {
  expect(step(two, from, by)).toEqual(to);
});
