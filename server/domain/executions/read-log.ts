import { and, eq } from 'drizzle-orm';
import { z } from 'zod';
import { executions } from '#db/schema/index.ts';
import { namesError } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { type Row, readTranscript } from '#server/domain/logs/index.ts';
import { parse } from '#server/domain/parse.ts';
import { getExecutionInput, type ReadLogInput, readLogInput } from './input.ts';

/**
 * A row of a log. `out` and `err` are lines of output of call `n` (0: the Body), `log` is a log message, `note` a
 * remark of the agent, `gap` bytes that have not arrived, and `text` a line that is not a valid record.
 */
export const logRow = z.object({
  row: count,
  ms: count.nullable().describe('Milliseconds since the Body first began.'),
  kind: z.enum(['begin', 'call', 'end', 'same', 'out', 'err', 'log', 'note', 'reboot', 'done', 'gap', 'text']),
  n: count.nullable().describe('The number of the call; 0 is the Body.'),
  level: z
    .enum(['debug', 'info', 'warning', 'error', 'fatal'])
    .nullable()
    .describe(
      'The level of a log message. `error` also marks lines of stderr that name an error, and calls that failed.',
    ),
  text: z.string(),
});
export type LogRow = z.infer<typeof logRow>;

const logPage = z.object({
  total: count,
  missing: count.describe('Bytes of the log that have not arrived.'),
  rows: z.array(logRow),
});

/** How long a request counts as following the log, in milliseconds. */
const followMs = 15_000;

/** Returns rows of an execution's log, for operators. Throws 404 `execution_unknown`. */
export async function readLog(ctx: Context, input: ReadLogInput): Promise<z.infer<typeof logPage>> {
  allow(ctx.actor, 'operator');
  const { vmId, executionId, row, count: wanted } = parse(readLogInput, input);
  await requireExecution(ctx, vmId, executionId);
  const { total, missing, rows } = await readTranscript(ctx, { vmId, executionId, row, count: wanted });
  return { total, missing, rows: rows.map((each, index) => logRowOf(row + index, each)) };
}

/** Records that someone is following an execution's log, so that the agent sends the log each second. */
export async function followExecution(ctx: Context, input: z.input<typeof getExecutionInput>): Promise<void> {
  allow(ctx.actor, 'operator');
  const { vmId, executionId } = parse(getExecutionInput, input);
  const followedUntil = new Date(ctx.now.getTime() + followMs);
  await ctx.db
    .update(executions)
    .set({ followedUntil })
    .where(and(eq(executions.vmId, vmId), eq(executions.id, executionId)));
}

/** Throws 404 `execution_unknown` if the VM does not have the execution. */
export async function requireExecution(ctx: Context, vmId: string, id: string): Promise<void> {
  const found = await ctx.db.$count(executions, and(eq(executions.vmId, vmId), eq(executions.id, id)));
  if (found === 0) throw new DomainError('not_found', 'execution_unknown');
}

/** Returns a stored row as a row of a log. A line that is not a valid record becomes a row of text. */
export function logRowOf(row: number, stored: Row): LogRow {
  const empty = { row, ms: null, n: null, level: null };
  if (stored.kind === 'gap') return { ...empty, kind: 'gap', text: String(stored.bytes) };
  const record = recordOf(stored.text);
  if (record === null) return { ...empty, kind: 'text', text: stored.text.slice(0, 4_096) };
  const [ms, kind, ...rest] = record;
  const [first, second, third] = rest;
  const of = { ...empty, ms, kind };
  const word = (value: unknown) => (typeof value === 'string' ? value : '');
  const number = (value: unknown) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
  switch (kind) {
    case 'out':
      return { ...of, n: number(first), text: word(second) };
    case 'err':
      return {
        ...of,
        n: number(first),
        level: namesError(visibleText(word(second))) ? 'error' : null,
        text: word(second),
      };
    case 'call':
      return { ...of, n: number(first), text: [word(second), word(third)].filter(Boolean).join('.') };
    case 'end':
    case 'same':
      return {
        ...{ ...of, n: number(first), level: hasFailed(second) ? 'error' : null },
        text: second === undefined ? '' : JSON.stringify(second),
      };
    case 'log':
      return { ...of, ...messageOf(first) };
    case 'begin':
      return { ...of, text: word((first as { why?: unknown } | null)?.why) };
    case 'done':
      return { ...of, n: number(first), text: '' };
    default:
      return { ...of, text: word(first) };
  }
}

const hasFailed = (end: unknown): boolean => typeof end === 'object' && end !== null && 'error' in end;

const kinds = ['begin', 'call', 'end', 'same', 'out', 'err', 'log', 'note', 'reboot', 'done'] as const;

function recordOf(line: string): [ms: number, kind: (typeof kinds)[number], ...rest: unknown[]] | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (!Array.isArray(value)) return null;
  const [ms, kind, ...rest]: unknown[] = value;
  const known = kinds.find((one) => one === kind);
  const isTime = typeof ms === 'number' && Number.isSafeInteger(ms) && ms >= 0;
  return isTime && known !== undefined ? [ms, known, ...rest] : null;
}

function messageOf(message: unknown): Pick<LogRow, 'level' | 'text'> {
  const { Level, Body } = (message ?? {}) as { Level?: unknown; Body?: unknown };
  const level = logRow.shape.level.safeParse(Level);
  return { level: level.data ?? null, text: typeof Body === 'string' ? Body : JSON.stringify(Body ?? null) };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences of terminals begin with these characters
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g;

/** Removes the control sequences that pages do not show, so that a search finds the visible text. */
export const visibleText = (text: string): string => (text.includes('\u001b') ? text.replace(sequences, '') : text);
