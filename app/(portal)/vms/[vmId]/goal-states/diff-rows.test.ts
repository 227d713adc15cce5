import { expect, test } from 'vitest';
import { type DiffPiece, hunksBetween } from './diff-rows.ts';

const text = (pieces: readonly DiffPiece[] | undefined) =>
  pieces?.map((piece) => (piece.marked ? `[${piece.text}]` : piece.text)).join('') ?? '';
const diffText = (before: string[], after: string[]) =>
  hunksBetween(before.join('\n'), after.join('\n')).flatMap(({ rows }) =>
    rows
      .filter(({ changed }) => changed)
      .map(
        (row) =>
          `${row.before?.number ?? ''}:${text(row.before?.pieces)} | ${row.after?.number ?? ''}:${text(row.after?.pieces)}`,
      ),
  );

test.each<[string, string[], string[], string[]]>([
  ['nothing', ['a'], ['a'], []],
  [
    'a word of a line',
    ['x', '"server": "nfs-eu1-a.internal:2049",'],
    ['x', '"server": "nfs-eu1-b.internal:2049",'],
    ['2:"server": "nfs-eu1-[a].internal:2049", | 2:"server": "nfs-eu1-[b].internal:2049",'],
  ],
  ['a line that came', ['a', 'c'], ['a', 'b', 'c'], [': | 2:b']],
  ['a line that went', ['a', 'b', 'c'], ['a', 'c'], ['2:b | :']],
  ['lines that have nothing in common are not marked', ['left'], ['right'], ['1:left | 1:right']],
  ['as many as there are on the longer side', ['k: 1'], ['k: 2', 'more'], ['1:k: [1] | 1:k: [2]', ': | 2:more']],
])('the comparison shows %s', (_, before, after, expected) => {
  expect(diffText(before, after)).toEqual(expected);
});

test('hunks have their extension as heading, and both sides have line numbers', () => {
  const body = (value: number) => [
    '{',
    '  "mount": {',
    '    "a": 1,',
    ...Array.from({ length: 9 }, (_, i) => `    "k${i}": 0,`),
    `    "z": ${value}`,
    '  }',
    '}',
  ];
  const [hunk] = hunksBetween(body(1).join('\n'), body(2).join('\n'));
  expect(hunk?.heading).toBe('mount');
  expect(hunk?.rows.find(({ changed }) => changed)).toMatchObject({ before: { number: 13 }, after: { number: 13 } });
  expect(hunk?.rows.filter(({ changed }) => !changed)).toHaveLength(5);
});

test('distant changes are in separate hunks', () => {
  const far = Array.from({ length: 30 }, (_, i) => `line ${i}`);
  const after = far.with(2, 'x').with(27, 'y');
  expect(hunksBetween(far.join('\n'), after.join('\n'))).toHaveLength(2);
});
