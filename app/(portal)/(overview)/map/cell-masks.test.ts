import { expect, test } from 'vitest';
import { type CellShape, pathOfShape } from '../../rollouts/step-looks.ts';
import { maskOf } from './cell-masks.ts';

const shapes = Object.keys(pathOfShape) as CellShape[];
const rowsOf = (shape: CellShape, x: number, y: number) =>
  Array.from({ length: y }, (_, row) =>
    maskOf(shape, { x, y })
      .slice(row * x, (row + 1) * x)
      .join(''),
  );

test.each([
  ['frame', ['1111', '1001', '1001', '1111']],
  ['inset', ['0000', '0110', '0110', '0000']],
  ['corner', ['1111', '1110', '1100', '1000']],
  ['diamond', ['0110', '1111', '1111', '0110']],
] as const)('draws a %s', (shape, rows) => {
  expect(rowsOf(shape, 4, 4)).toEqual(rows);
});

test('no shape disappears in the smallest cells', () => {
  for (const shape of shapes) {
    for (const size of [1, 2, 3, 5, 8]) expect(maskOf(shape, { x: size, y: size })).toContain(1);
  }
});

test('shapes differ in cells of five pixels, apart from the cross of a failure', () => {
  const drawn = shapes.filter((shape) => shape !== 'cross').map((shape) => rowsOf(shape, 5, 5).join());
  expect(new Set(drawn).size).toBe(drawn.length);
});
