import { expect, test } from 'vitest';
import { namesError, startOfError } from './error-line.ts';

const long = 'x'.repeat(1_990);

test.each<[string[], number | null]>([
  [['fine', 'Fatal: gone', 'an error'], 1],
  [['could not', ''], 0],
  [['', '', 'terrors', 'no\tsuch'], null],
  [[`${long} then an error`, '', 'denied'], 2],
  [[`${long} failed`], 0],
  [[`${long} and an error, error`], null],
  [['größe', 'Fehler: not found'], 1],
])(
  '%#. the first line that reports an error is the same, whether the text is read whole or line by line',
  (lines, row) => {
    const start = startOfError(lines.join('\n'));
    expect(start === null ? null : lines.join('\n').slice(0, start).split('\n').length - 1).toBe(row);
    const found = lines.findIndex(namesError);
    expect(found < 0 ? null : found).toBe(row);
  },
);
