import { expect, test } from 'vitest';
import { toggledInAddress, visibleRows, withToggledCalls } from './folds.ts';

const shown = (total: number, folds: { from: number; to: number }[]) => {
  const rows = visibleRows(total, folds);
  return Array.from({ length: rows.count }, (_, position) => rows.rowAt(position));
};

test('folded rows are left out, in any order of the folds and up to the last row', () => {
  expect(shown(4, [])).toEqual([0, 1, 2, 3]);
  expect(
    shown(10, [
      { from: 6, to: 8 },
      { from: 1, to: 4 },
    ]),
  ).toEqual([0, 4, 5, 8, 9]);
  expect(shown(5, [{ from: 2, to: 99 }])).toEqual([0, 1]);
  expect(shown(5, [{ from: 9, to: 12 }])).toEqual([0, 1, 2, 3, 4]);
});

test('each row is found at its position, and a hidden row has the position of its header', () => {
  const folds = [
    { from: 1, to: 4 },
    { from: 6, to: 8 },
  ];
  const rows = visibleRows(10, folds);
  for (const row of shown(10, folds)) expect(rows.rowAt(rows.positionOf(row))).toBe(row);
  expect([1, 2, 3].map((row) => rows.rowAt(rows.positionOf(row)))).toEqual([0, 0, 0]);
  expect([6, 7].map((row) => rows.rowAt(rows.positionOf(row)))).toEqual([5, 5]);
});

test('the calls whose folding the reader changed are kept in the URL, together with other parameters', () => {
  expect(withToggledCalls('?a=1&folds=2', new Set([10, 3]))).toBe('?a=1&folds=3.10');
  expect([...toggledInAddress('?folds=3.10.x.-1')]).toEqual([3, 10]);
  expect(withToggledCalls('?folds=2', new Set())).toBe('');
});
