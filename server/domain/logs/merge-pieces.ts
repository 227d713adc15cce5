import { type Piece, pieceBytes } from './piece.ts';

/** Reads the bytes of a piece, and creates a piece from bytes. */
export interface PieceBytes {
  read(piece: Piece): Promise<Buffer>;
  make(raw: Buffer, start: number): Promise<Piece>;
}

/**
 * Adds new pieces to existing pieces, without overlaps. Existing bytes are kept, unless a new piece has different bytes
 * at the same position. Different bytes mean that the command ran again, so all existing bytes at or after the start of
 * the new piece are removed. Everything beyond the total length that the agent sent is removed too. Small neighbors are
 * merged.
 */
export async function mergePieces(
  stored: readonly Piece[],
  fresh: readonly Piece[],
  total: number | null,
  bytes: PieceBytes,
): Promise<Piece[]> {
  let kept = total === null ? [...stored] : await upTo(stored, total, bytes);
  for (const piece of fresh) {
    const touched = kept.filter((other) => other.start < piece.until && other.until > piece.start);
    if (touched.some((other) => isSame(other, piece))) continue;
    if (touched.length === 0) {
      kept.push(piece);
    } else if (await agrees(piece, touched, bytes)) {
      kept.push(...(await uncovered(piece, touched, bytes)));
    } else {
      kept = [...(await upTo(kept, piece.start, bytes)), piece];
    }
    kept.sort((a, b) => a.start - b.start);
  }
  return joined(kept, bytes);
}

/**
 * Merges each piece with the previous piece, unless there is a gap between them, the previous piece is more than twice
 * as large, or the result would exceed `pieceBytes`. As a result, an output that arrives byte by byte has few pieces,
 * and its bytes are not compressed again for each new piece.
 */
async function joined(pieces: readonly Piece[], bytes: PieceBytes): Promise<Piece[]> {
  const whole: Piece[] = [];
  for (const piece of pieces) {
    let last = piece;
    for (let before = whole.at(-1); before !== undefined && belongs(before, last); before = whole.at(-1)) {
      const raw = Buffer.concat([await bytes.read(before), await bytes.read(last)]);
      last = await bytes.make(raw, before.start);
      whole.pop();
    }
    whole.push(last);
  }
  return whole;
}

const belongs = (before: Piece, piece: Piece): boolean =>
  before.until === piece.start &&
  before.until - before.start <= 2 * (piece.until - piece.start) &&
  piece.until - before.start <= pieceBytes;

const isSame = (a: Piece, b: Piece): boolean => a.start === b.start && a.until === b.until && a.sha256 === b.sha256;

async function agrees(piece: Piece, others: readonly Piece[], bytes: PieceBytes): Promise<boolean> {
  const raw = await bytes.read(piece);
  for (const other of others) {
    const theirs = await bytes.read(other);
    const [from, to] = [Math.max(piece.start, other.start), Math.min(piece.until, other.until)];
    const mine = raw.subarray(from - piece.start, to - piece.start);
    if (!mine.equals(theirs.subarray(from - other.start, to - other.start))) return false;
  }
  return true;
}

/** Returns the parts of a piece that the other pieces do not cover, in order. */
async function uncovered(piece: Piece, others: readonly Piece[], bytes: PieceBytes): Promise<Piece[]> {
  const raw = await bytes.read(piece);
  const parts: Piece[] = [];
  let from = piece.start;
  for (const { start, until } of [...others, { start: piece.until, until: piece.until }]) {
    if (start > from) parts.push(await bytes.make(raw.subarray(from - piece.start, start - piece.start), from));
    from = Math.max(from, until);
  }
  return parts;
}

/** Returns everything before a position, and cuts a piece that extends beyond it. */
async function upTo(pieces: readonly Piece[], place: number, bytes: PieceBytes): Promise<Piece[]> {
  const before: Piece[] = [];
  for (const piece of pieces) {
    if (piece.until <= place) before.push(piece);
    else if (piece.start < place) {
      before.push(await bytes.make((await bytes.read(piece)).subarray(0, place - piece.start), piece.start));
    }
  }
  return before;
}
