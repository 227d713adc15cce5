import type { StoredPiece, Stretch } from './rows.ts';

export interface LineSearch {
  /** The row at which the search starts. */
  from: number;
  /** Limit for the length of a line in bytes. Longer lines are cut. */
  lineBytes: number;
  /** Whether a block of lines can contain a match. Other blocks are skipped. */
  maybe(block: Buffer): boolean;
}

/** A line and its row. */
export interface NumberedLine {
  row: number;
  text: string;
}

const lineEnd = 0x0a;

/**
 * Yields the lines of an output, one block for each piece. Skips blocks that cannot contain a match, because searching
 * a whole block is much faster than searching each of its lines.
 */
export async function* linesToSearch(
  stretches: readonly Stretch[],
  read: (piece: StoredPiece) => Promise<Buffer>,
  search: LineSearch,
): AsyncGenerator<NumberedLine[]> {
  for (const stretch of stretches) {
    if (stretch.kind === 'gap' || stretch.row + stretch.rows <= search.from) continue;
    let { row } = stretch;
    let started: Buffer = Buffer.alloc(0);
    for (const piece of stretch.pieces) {
      if (piece.row + piece.lines < search.from) {
        row = piece.row + piece.lines;
        continue;
      }
      const block = Buffer.concat([started, await read(piece)]);
      const end = block.lastIndexOf(lineEnd) + 1;
      // Also yields empty blocks, so that the caller can serve other requests.
      yield linesIn(block.subarray(0, end), row, search);
      row = piece.row + piece.lines;
      started = block.subarray(end, end + search.lineBytes);
    }
    if (started.length > 0) yield linesIn(started, row, search);
  }
}

function linesIn(block: Buffer, firstRow: number, { from, lineBytes, maybe }: LineSearch): NumberedLine[] {
  const lines: NumberedLine[] = [];
  if (block.length === 0 || !maybe(block)) return lines;
  let row = firstRow;
  for (let at = 0; at < block.length; row += 1) {
    const next = block.indexOf(lineEnd, at);
    const end = next < 0 ? block.length : next;
    if (row >= from) lines.push({ row, text: block.toString('utf8', at, Math.min(end, at + lineBytes)) });
    at = end + 1;
  }
  return lines;
}
