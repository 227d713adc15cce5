import type { LogRow } from '#server/domain/executions/index.ts';

/** The kinds of rows that contain text from the plan or the agent. */
const texts: readonly LogRow['kind'][] = ['out', 'err', 'log', 'note', 'text'];

/**
 * Returns rows of an execution's log in a format for downloads. The text format contains output and messages, but not
 * the agent's records of calls.
 */
export function logLines(rows: readonly LogRow[], format: 'text' | 'jsonl'): string {
  if (format === 'jsonl') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return rows
    .filter(({ kind }) => texts.includes(kind))
    .map(({ text }) => `${text}\n`)
    .join('');
}
