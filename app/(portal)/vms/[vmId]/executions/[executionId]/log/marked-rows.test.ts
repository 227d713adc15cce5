import { expect, test } from 'vitest';
import { hashOfRows, rowsInHash } from './marked-rows.ts';

test.each([
  ['#L12', { from: 11, to: 11 }],
  ['#L12-L20', { from: 11, to: 19 }],
  ['#L20-L12', { from: 11, to: 19 }],
  ['#L0', null],
  ['#L12x', null],
  ['', null],
])('the fragment %j names %j', (hash, rows) => {
  expect(rowsInHash(hash)).toEqual(rows);
  if (rows !== null) expect(rowsInHash(hashOfRows(rows))).toEqual(rows);
});
