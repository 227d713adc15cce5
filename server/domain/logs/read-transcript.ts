import { setImmediate } from 'node:timers/promises';
import { executionLimits } from '#protocol/executions/index.ts';
import type { Context } from '#server/domain/context.ts';
import { loadTranscript, readAgain } from './output.ts';
import { bytesOf } from './piece.ts';
import { type LineForm, type Row, rowsFrom, rowsIn, type StoredPiece } from './rows.ts';

/** A cut row would not be valid JSON, so the limit fits the agent's longest line even if every byte is escaped. */
const whole: LineForm = { bytes: executionLimits.logMessageBytes * 8, text: (line) => line };

/** A response ends once its rows exceed this number of characters; the next request continues after them. */
const maxCharacters = 1024 * 1024;
const maxFound = 100;

const reading =
  ({ blobs }: Context) =>
  ({ sha256 }: StoredPiece) =>
    bytesOf(blobs, { sha256, path: null });

/** Returns the number of rows of an execution's transcript, and up to `count` stored rows, starting at `row`. */
export function readTranscript(
  ctx: Context,
  { vmId, executionId, row, count }: { vmId: string; executionId: string; row: number; count: number },
): Promise<{ total: number; rows: Row[] }> {
  return readAgain(async () => {
    const stretches = await loadTranscript(ctx, vmId, executionId);
    const total = rowsIn(stretches);
    const rows: Row[] = [];
    let characters = 0;
    for await (const some of rowsFrom(stretches, row, reading(ctx), whole)) {
      for (const each of some) {
        rows.push(each);
        characters += each.kind === 'line' ? each.text.length : 0;
        if (rows.length === count || characters > maxCharacters) return { total, rows };
      }
    }
    return { total, rows };
  });
}

/**
 * Returns up to 100 rows that `matches` accepts, starting at a row. `next` is the row at which the next search starts;
 * null at the end of the transcript.
 */
export function searchTranscript(
  ctx: Context,
  { vmId, executionId, row: from }: { vmId: string; executionId: string; row: number },
  matches: (line: string) => boolean,
): Promise<{ rows: { row: number; line: string }[]; next: number | null }> {
  return readAgain(async () => {
    const rows: { row: number; line: string }[] = [];
    let row = from;
    for await (const some of rowsFrom(await loadTranscript(ctx, vmId, executionId), from, reading(ctx), whole)) {
      // Yields to other requests, because a transcript can have millions of rows.
      await setImmediate();
      for (const each of some) {
        if (rows.length === maxFound) return { rows, next: row };
        if (each.kind === 'line' && matches(each.text)) rows.push({ row, line: each.text });
        row += 1;
      }
    }
    return { rows, next: null };
  });
}
