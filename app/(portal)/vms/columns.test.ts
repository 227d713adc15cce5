import { expect, test } from 'vitest';
import { columnNames, columnsThatFit, readLook, roomy, tightest, widthsOf, writeLook } from './columns.ts';

const usual = readLook(undefined).columns;

test.each([
  ['a usual window has what is usual', usual, 1_180, usual],
  ['a small one gives up the tags first', usual, 740, ['health', 'reason', 'extensions', 'lastSeen']],
  ['the smallest keeps health and reason', usual, tightest, ['health', 'reason', 'extensions']],
  ['what is left stays in its order', columnNames, tightest, ['health', 'reason', 'extensions']],
  ['who chose more is shown it where there is room to scroll', columnNames, 1_180, columnNames],
  ['nothing but the name fits everywhere', [], tightest, []],
])('%s', (_, columns, width, expected) => {
  expect(columnsThatFit(columns, width)).toEqual(expected);
});

test('the default columns need exactly the width from which all columns are shown', () => {
  expect(widthsOf(usual).least).toBe(roomy);
});

test('a table look is read as it was written, and anything else becomes the default', () => {
  const look = { columns: ['health', 'system'] as const, compact: true };
  expect(readLook(writeLook(look))).toEqual(look);
  expect(readLook('<script>')).toEqual({ columns: usual, compact: false });
});
