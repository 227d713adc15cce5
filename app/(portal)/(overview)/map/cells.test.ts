import { expect, test } from 'vitest';
import { healthLetters as letters } from '#server/domain/verdicts/words.ts';
import { nextTrouble, unpackCells, vmOfCell, worstOf } from './cells.ts';

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
])('of several VMs in a cell the worst is seen: %s by %i', (before, perCell, after) => {
  expect(text(worstOf(cells(before), perCell))).toBe(after);
});

test('a cell of several VMs leads to its first one that is worst', () => {
  expect([0, 1, 2].map((cell) => vmOfCell(cells('hhhfffh'), cell, 3))).toEqual([0, 3, 6]);
});

test.each([
  [{ group: 0, cell: 0 }, 1, { group: 0, cell: 2 }],
  [{ group: 0, cell: 2 }, 1, { group: 2, cell: 1 }],
  [{ group: 2, cell: 1 }, 1, { group: 0, cell: 2 }],
  [{ group: 0, cell: 2 }, -1, { group: 2, cell: 1 }],
] as const)('the next one in trouble from %o, %i', (from, direction, found) => {
  expect(nextTrouble([cells('hhf'), cells('hx'), cells('hd')], from, direction)).toEqual(found);
});

test('there is none where all are well', () => {
  expect(nextTrouble([cells('hhx')], { group: 0, cell: 0 }, 1)).toBeNull();
});
