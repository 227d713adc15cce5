import { describe, expect, it } from 'vitest';
import type { LogRow } from '#app/(portal)/executions/execution-data.ts';
import { firstErrorIn } from './use-first-error.ts';

const row = (n: number, text: string, kind: LogRow['kind'] = 'out'): LogRow => ({
  ...{ row: n, ms: 0, n: null, level: 'error', kind, text },
});

describe('the first error', () => {
  it.each<[string, LogRow[], number | undefined]>([
    ['names an error, although stderr has a warning before it', [row(4, 'insecure'), row(5, 'Access denied')], 5],
    ['is the first line of stderr if none names an error', [row(4, 'one'), row(5, 'two')], 4],
    ['is a message of an execution, whatever it says', [row(4, 'insecure', 'log'), row(5, 'denied', 'err')], 4],
    ['does not exist in an empty log', [], undefined],
  ])('%s', (_, rows, expected) => {
    expect(firstErrorIn(rows)?.row).toBe(expected);
  });
});
