import type { LogRow } from '#app/(portal)/executions/execution-data.ts';
import { cutSpans, terminalSpans } from './terminal-spans.ts';

const maxCharacters = 1_000;

/** Returns the error text of a row. For the end of a call, that is the reason why the call failed. */
export function textOfError({ kind, text }: LogRow): string {
  const contents = kind === 'end' ? endOfCall(text).error : text;
  return cutSpans(terminalSpans(contents), maxCharacters)
    .map((span) => span.text)
    .join('');
}

/** Reads the record of a call's end. Its values can be anything, because agents send them. */
export function endOfCall(text: string): { exitCode: number | null; error: string } {
  const value: unknown = text === '' ? null : JSON.parse(text);
  const { exitCode, error } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return { exitCode: typeof exitCode === 'number' ? exitCode : null, error: typeof error === 'string' ? error : '' };
}
