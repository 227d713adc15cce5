import { expect, test } from 'vitest';
import type { LogRow } from '#app/(portal)/executions/execution-data.ts';
import { endOfCall, textOfError } from './error-text.ts';

const row = (kind: LogRow['kind'], text: string): LogRow => ({ row: 0, ms: 0, n: 1, level: 'error', kind, text });

test('an error is a line without its colors, or why a call failed', () => {
  expect(textOfError(row('err', '\u001b[31mcannot bind\u001b[0m'))).toBe('cannot bind');
  expect(textOfError(row('end', '{"exitCode":3,"error":"exit code 3"}'))).toBe('exit code 3');
  expect(textOfError(row('err', 'x'.repeat(5_000)))).toHaveLength(1_000);
});

test.each(['', '7', 'null', '{"exitCode":"3","error":7}'])('the end %j of a call says nothing', (text) => {
  expect(endOfCall(text)).toEqual({ exitCode: null, error: '' });
});
