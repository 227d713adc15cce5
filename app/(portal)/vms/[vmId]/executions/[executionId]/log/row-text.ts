import type { LogRow } from '#app/(portal)/executions/execution-data.ts';
import { terminalSpans } from './terminal-spans.ts';

/** Rows with text from the plan or the agent. The downloaded log contains the same rows. */
const texts: readonly LogRow['kind'][] = ['out', 'err', 'log', 'note', 'text'];

/** Returns rows as text, as the page shows them, without the records of calls. */
export const textOfRows = (rows: readonly LogRow[]): string =>
  rows
    .filter(({ kind }) => texts.includes(kind))
    .map(
      ({ text }) =>
        `${terminalSpans(text)
          .map((span) => span.text)
          .join('')}\n`,
    )
    .join('');
