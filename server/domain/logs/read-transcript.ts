import { setImmediate } from 'node:timers/promises';
import { executionLimits } from '#protocol/executions/index.ts';
import type { Context } from '#server/domain/context.ts';
import { loadTranscript, readAgain } from './output.ts';
import { bytesOf } from './piece.ts';
import { type LineForm, missingBytes, type Row, rowsFrom, rowsIn, type StoredPiece, type Stretch } from './rows.ts';
import { linesToSearch, type NumberedLine } from './search-rows.ts';

/** A cut row would not be valid JSON, so the limit fits the agent's longest line even if every byte is escaped. */
const whole: LineForm = { bytes: executionLimits.logMessageBytes * 8, text: (line) => line };

/** A response ends once its rows exceed this number of characters; the next request continues after them. */
const maxCharacters = 1024 * 1024;

const reading =
  ({ blobs }: Context) =>
  (piece: StoredPiece) =>
    bytesOf(blobs, { ...piece, path: null });

/**
 * Returns the number of rows of an execution's transcript, the number of its bytes that have not arrived, and up to
 * `count` of the rows, starting at `row`.
 */
export function readTranscript(
  ctx: Context,
  { vmId, executionId, row, count }: { vmId: string; executionId: string; row: number; count: number },
): Promise<{ total: number; missing: number; rows: Row[] }> {
  return readAgain(async () => {
    const stretches = await loadTranscript(ctx, vmId, executionId);
    const [total, missing] = [rowsIn(stretches), missingBytes(stretches)];
    const rows: Row[] = [];
    let characters = 0;
    for await (const some of rowsFrom(stretches, row, reading(ctx), whole)) {
      for (const each of some) {
        rows.push(each);
        characters += each.kind === 'line' ? each.text.length : 0;
        if (rows.length === count || characters > maxCharacters) return { total, missing, rows };
      }
    }
    return { total, missing, rows };
  });
}

/** Describes which rows of a transcript to find. */
export interface TranscriptSearch {
  /** The row at which the search starts. */
  row: number;
  limit: number;
  /** Whether a block of stored lines can contain a match. */
  maybe(block: Buffer): boolean;
  matches(line: string): boolean;
}

/**
 * Returns up to `limit` rows that match. `next` is the row at which the next search starts; null at the end of the
 * transcript. `total` is the number of rows of the transcript.
 */
export function searchTranscript(
  ctx: Context,
  { vmId, executionId }: { vmId: string; executionId: string },
  search: TranscriptSearch,
): Promise<FoundRows> {
  return readAgain(async () => searchStretches(ctx, await loadTranscript(ctx, vmId, executionId), search));
}

/** The rows that a search found. */
export interface FoundRows {
  rows: NumberedLine[];
  next: number | null;
  total: number;
}

/** Searches the rows of an output or a transcript. */
export async function searchStretches(
  ctx: Context,
  stretches: readonly Stretch[],
  { row: from, limit, maybe, matches }: TranscriptSearch,
): Promise<FoundRows> {
  const total = rowsIn(stretches);
  const rows: NumberedLine[] = [];
  let characters = 0;
  for await (const lines of linesToSearch(stretches, reading(ctx), { from, lineBytes: whole.bytes, maybe })) {
    // Yields to other requests, because a transcript can have millions of rows.
    await setImmediate();
    for (const line of lines) {
      if (rows.length === limit || characters > maxCharacters) return { rows, next: line.row, total };
      if (!matches(line.text)) continue;
      rows.push(line);
      characters += line.text.length;
    }
  }
  return { rows, next: null, total };
}
