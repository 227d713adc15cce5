import { expect, test } from 'vitest';
import { healthLetters as letters } from '#server/domain/verdicts/words.ts';
import { nextUnhealthy, unpackCells, vmOfCell, worstOf } from './cells.ts';

const cells = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letters.indexOf(letter));
const text = (bytes: Uint8Array): string => [...bytes].map((at) => letters[at]).join('');

test.each([
  ['h4f', 5, 'hhhhf'],
  ['fh12u2', 15, 'fhhhhhhhhhhhhuu'],
  ['hfhf', 4, 'hfhf'],
  ['', 0, ''],
])('%s unpacks to its VMs', (packed, count, expected) => {
  expect(text(unpackCells(packed, count))).toBe(expected);
});

test.each([
  ['hhhfhp', 2, 'hfp'],
  ['hhhfhpu', 3, 'hfu'],
  ['hk', 1, 'hk'],
])('a cell of several VMs shows the worst health: %s by %i', (before, perCell, after) => {
  expect(text(worstOf(cells(before), perCell))).toBe(after);
});

test('a cell of several VMs opens the first VM with the worst health', () => {
  expect([0, 1, 2].map((cell) => vmOfCell(cells('hhhfffh'), cell, 3))).toEqual([0, 3, 6]);
});

test.each([
  [{ group: 0, cell: -1 }, 1, { group: 0, cell: 2 }],
  [{ group: 0, cell: -1 }, -1, { group: 2, cell: 1 }],
  [{ group: 0, cell: 0 }, 1, { group: 0, cell: 2 }],
  [{ group: 0, cell: 2 }, 1, { group: 2, cell: 1 }],
  [{ group: 2, cell: 1 }, 1, { group: 0, cell: 2 }],
  [{ group: 0, cell: 2 }, -1, { group: 2, cell: 1 }],
] as const)('the next unhealthy cell from %o, %i', (from, direction, found) => {
  expect(nextUnhealthy([cells('hhf'), cells('hx'), cells('hd')], from, direction)).toEqual(found);
});

test('there is no next unhealthy cell if all VMs are healthy', () => {
  expect(nextUnhealthy([cells('hhx')], { group: 0, cell: 0 }, 1)).toBeNull();
});
