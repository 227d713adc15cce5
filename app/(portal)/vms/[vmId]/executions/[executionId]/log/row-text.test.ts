import { expect, test } from 'vitest';
import type { LogRow } from '#app/(portal)/executions/execution-data.ts';
import { textOfRows } from './row-text.ts';

const row = (kind: LogRow['kind'], text: string): LogRow => ({ row: 0, ms: 0, n: 1, level: null, kind, text });

test('rows are copied as people see them, without colors and records of calls', () => {
  const rows = [row('call', 'hello'), row('out', '\u001b[31mred\u001b[0m'), row('log', 'renewing'), row('end', '{}')];
  expect(textOfRows(rows)).toBe('red\nrenewing\n');
});
