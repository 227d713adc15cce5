import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { searchTranscript } from '#server/domain/logs/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type FilterLogInput, filterLogInput, type SearchLogInput, searchLogInput } from './input.ts';
import { type LogRow, logRowOf, requireExecution, visibleText } from './read-log.ts';

/** Limits the matches of a search response. Pages show larger numbers of matches as “1,000+”. */
const maxFound = 1_000;
const maxFiltered = 200;

const rowOf = (line: string, row = 0): LogRow => logRowOf(row, { kind: 'line', text: line });

/**
 * Returns the numbers of up to 1,000 rows whose text contains `q`, ignoring case. `next` is the row at which the next
 * search starts; null at the end of the log. For operators. Throws 404 `execution_unknown`.
 */
export async function searchLog(
  ctx: Context,
  input: SearchLogInput,
): Promise<{ found: number[]; next: number | null }> {
  allow(ctx.actor, 'operator');
  const { vmId, executionId, q, row } = parse(searchLogInput, input);
  await requireExecution(ctx, vmId, executionId);
  const wanted = q.toLowerCase();
  const canBe = formOfMatches(wanted);
  const { rows, next } = await searchTranscript(
    ctx,
    { vmId, executionId },
    {
      ...{ row, limit: maxFound },
      // In latin1, each byte is one character, which is sufficient to find ASCII text.
      maybe: (block) => canBe.test(block.toString('latin1')),
      matches: (line) => canBe.test(line) && isFound(line, wanted),
    },
  );
  return { found: rows.map((line) => line.row), next };
}

/**
 * Returns up to 200 rows that a level shows, starting at `row`. `next` is the row at which the next response starts. At
 * the end of the log, `isLast` is true and `next` is the number of rows. For operators. Throws 404 `execution_unknown`.
 */
export async function filterLog(
  ctx: Context,
  input: FilterLogInput,
): Promise<{ rows: LogRow[]; next: number; isLast: boolean }> {
  allow(ctx.actor, 'operator');
  const { vmId, executionId, level, row } = parse(filterLogInput, input);
  await requireExecution(ctx, vmId, executionId);
  const { rows, next, total } = await searchTranscript(
    ctx,
    { vmId, executionId },
    {
      ...{ row, limit: maxFiltered },
      maybe: (block) => hasRecord(block.toString('latin1')),
      matches: (line) => hasRecord(line) && isShown(rowOf(line), level),
    },
  );
  return {
    rows: rows.map((line) => rowOf(line.text, line.row)),
    next: next ?? Math.max(row, total),
    isLast: next === null,
  };
}

/** JSON can contain any character as an escape sequence, which a search in the stored text does not find. */
const unicodeEscape = '\\u';
const hasRecord = (text: string): boolean =>
  ['"log"', '"err"', '"end"', unicodeEscape].some((part) => text.includes(part));

const severity = { debug: 0, info: 0, warning: 1, error: 2, fatal: 2 } as const;
const least = { messages: 0, warning: 1, error: 2 } as const;

/** Whether a level shows a row. Lines of stderr and failed calls also have levels, but are not messages. */
function isShown({ kind, level }: LogRow, wanted: keyof typeof least): boolean {
  if (kind === 'log') return severity[level ?? 'info'] >= least[wanted];
  return wanted !== 'messages' && level !== null;
}

/** Kinds of rows whose text appears on the page, apart from control sequences. */
const texts: readonly LogRow['kind'][] = ['out', 'err', 'log', 'note', 'text', 'call'];

function isFound(line: string, wanted: string): boolean {
  const { kind, text } = rowOf(line);
  return texts.includes(kind) && visibleText(text).toLowerCase().includes(wanted);
}

/** Returns the longest part of a text that JSON does not need to escape. */
function partAsStored(text: string): string {
  const parts = text.match(/[a-z0-9 !#-.:-@[\]^_`{|}~]+/g) ?? [];
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}

/** Returns a pattern that finds every stored text that can contain `text`. */
const formOfMatches = (text: string): RegExp =>
  new RegExp(`${RegExp.escape(unicodeEscape)}|${RegExp.escape(partAsStored(text))}`, 'i');
