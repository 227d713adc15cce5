import type { PlacedPiece, StoredPiece, Stretch } from './rows.ts';

export interface LineSearch {
  /** The row at which the search starts. */
  from: number;
  /** Maximum length of a line in bytes. Longer lines are truncated. */
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
    const pieces = stretch.pieces.filter((piece) => piece.row + piece.lines >= search.from);
    let row = pieces[0]?.row ?? stretch.row;
    let started: Buffer = Buffer.alloc(0);
    for await (const { piece, bytes } of readAhead(pieces, read)) {
      // Only the first line is joined with bytes of the previous piece, because copying every piece would be slow.
      const [first, last] = [bytes.indexOf(lineEnd) + 1, bytes.lastIndexOf(lineEnd) + 1];
      const joined = Buffer.concat([started, bytes.subarray(0, first === 0 ? undefined : first)]);
      started = (first === 0 ? joined : bytes.subarray(last)).subarray(0, search.lineBytes);
      // Also yields empty blocks, so that the caller can serve other requests.
      yield first === 0
        ? []
        : [...linesIn(joined, row, search), ...linesIn(bytes.subarray(first, last), row + 1, search)];
      row = piece.row + piece.lines;
    }
    if (started.length > 0) yield linesIn(started, row, search);
  }
}

/** Yields pieces and their bytes. Reads the next piece while the caller searches a piece. */
async function* readAhead(
  pieces: readonly PlacedPiece[],
  read: (piece: StoredPiece) => Promise<Buffer>,
): AsyncGenerator<{ piece: PlacedPiece; bytes: Buffer }> {
  let next: Promise<Buffer> | undefined;
  for (const [index, piece] of pieces.entries()) {
    const bytes = await (next ?? read(piece));
    const following = pieces[index + 1];
    next = following && read(following);
    // If the search ends before the next piece, an error in the next piece does not matter.
    next?.catch(() => {});
    yield { piece, bytes };
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
