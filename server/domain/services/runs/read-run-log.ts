import { negotiate, type ReaderWishes } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { LogRow } from '#server/domain/executions/index.ts';
import { readOutputOfRun, searchOutputOfRun } from '#server/domain/logs/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type FoundRun, findRun } from './find-run.ts';
import {
  type FilterRunLogInput,
  filterRunLogInput,
  type ReadRunOutputInput,
  readRunOutputInput,
  type SearchRunLogInput,
  searchRunLogInput,
} from './input.ts';
import { readFormula, sayMessages } from './run-messages.ts';
import { isShownAt, type RunLogRow, runRowOf } from './run-row.ts';

/** Limits the rows of a response. */
const maxFound = 1_000;
const maxFiltered = 200;

/** A part of the log of a run. */
export interface RunLogPage {
  total: number;
  missing: number;
  rows: LogRow[];
}

/**
 * Returns rows of a run’s output with their levels and, for messages of the formula, their texts in the reader’s
 * language. For operators. Throws 404 `unit_unknown` | `run_unknown`.
 */
export async function readRunLog(ctx: Context, input: ReadRunOutputInput, reader: ReaderWishes): Promise<RunLogPage> {
  allow(ctx.actor, 'operator');
  const { row, count, ...name } = parse(readRunOutputInput, input);
  const found = await findRun(ctx, name);
  const { rows, total, missing } = await readOutputOfRun(ctx, found.run, { row, count });
  const inWords = await say(
    ctx,
    found,
    rows.map((each, index) => runRowOf(row + index, each)),
    reader,
  );
  return { total, missing, rows: inWords };
}

/**
 * Returns up to 200 rows that a level shows, starting at `row`. `next` is the row at which the next response starts. At
 * the end of the output, `isLast` is true. For operators. Throws as `readRunLog`.
 */
export async function filterRunLog(
  ctx: Context,
  input: FilterRunLogInput,
  reader: ReaderWishes,
): Promise<{ rows: LogRow[]; next: number; isLast: boolean }> {
  allow(ctx.actor, 'operator');
  const { row, level, ...name } = parse(filterRunLogInput, input);
  const of = await findRun(ctx, name);
  const found = await searchOutputOfRun(ctx, of.run, {
    ...{ row, limit: maxFiltered, maybe: () => true },
    matches: (line) => isShownAt(rowOf(line).row, level),
  });
  const rows = await say(
    ctx,
    of,
    found.rows.map((line) => rowOf(line.text, line.row)),
    reader,
  );
  return { rows, next: found.next ?? Math.max(row, found.total), isLast: found.next === null };
}

/**
 * Returns the numbers of up to 1,000 rows whose text contains `q`, ignoring case. `next` is the row at which the next
 * search starts; null at the end. For operators. Throws as `readRunLog`.
 */
export async function searchRunLog(
  ctx: Context,
  input: SearchRunLogInput,
): Promise<{ found: number[]; next: number | null }> {
  allow(ctx.actor, 'operator');
  const { row, q, ...name } = parse(searchRunLogInput, input);
  const { run } = await findRun(ctx, name);
  const wanted = q.toLowerCase();
  const { rows, next } = await searchOutputOfRun(ctx, run, {
    ...{ row, limit: maxFound, maybe: () => true },
    matches: (line) => rowOf(line).row.text.toLowerCase().includes(wanted),
  });
  return { found: rows.map((line) => line.row), next };
}

const rowOf = (line: string, row = 0): RunLogRow => runRowOf(row, { kind: 'line', text: line });

/** Replaces the texts of messages by the formula’s texts in the reader’s language. */
async function say(
  { db }: Context,
  { unit, run }: FoundRun,
  rows: readonly RunLogRow[],
  reader: ReaderWishes,
): Promise<LogRow[]> {
  const messages = rows.flatMap(({ message }) => message ?? []);
  if (messages.length === 0) return rows.map(({ row }) => row);
  const inWords = await sayMessages(db, await readFormula(db, unit, run.formulaVersion), messages, negotiate(reader));
  return rows.map(({ row, message }) => {
    const text = message === null ? null : inWords(message);
    return text === null || text.source === 'id' ? row : { ...row, text: text.text };
  });
}
