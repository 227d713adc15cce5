import type { Piece } from './piece.ts';

export type StoredPiece = Omit<Piece, 'path'>;

/** A piece and the row of its first byte. */
export interface PlacedPiece extends StoredPiece {
  row: number;
}

/** Consecutive rows: pieces without a gap between them, or a gap, which is one row. */
export type Stretch =
  | { kind: 'text'; row: number; rows: number; pieces: PlacedPiece[] }
  | { kind: 'gap'; row: number; rows: 1; bytes: number };

/** Divides an output into rows. Each line and each missing part is a row. */
export function layOut(pieces: readonly StoredPiece[], total: number | null): Stretch[] {
  const stretches: Stretch[] = [];
  let at = 0;
  let row = 0;
  for (let index = 0; index < pieces.length; ) {
    const first = pieces[index];
    if (first === undefined) break;
    if (first.start > at) {
      stretches.push({ kind: 'gap', row, rows: 1, bytes: first.start - at });
      row += 1;
    }
    const placed: PlacedPiece[] = [];
    let lines = 0;
    at = first.start;
    for (let next = pieces[index]; next !== undefined && next.start === at; next = pieces[index]) {
      placed.push({ ...next, row: row + lines });
      lines += next.lines;
      at = next.until;
      index += 1;
    }
    const rows = lines + (placed.at(-1)?.endsLine === true ? 0 : 1);
    stretches.push({ kind: 'text', row, rows, pieces: placed });
    row += rows;
  }
  if (total !== null && total > at) stretches.push({ kind: 'gap', row, rows: 1, bytes: total - at });
  return stretches;
}

export const rowsIn = (stretches: readonly Stretch[]): number => {
  const last = stretches.at(-1);
  return last === undefined ? 0 : last.row + last.rows;
};

/** Returns the number of bytes that have not arrived. */
export const missingBytes = (stretches: readonly Stretch[]): number =>
  stretches.reduce((sum, stretch) => sum + (stretch.kind === 'gap' ? stretch.bytes : 0), 0);

/** Returns the row of the first line that names an error; null if there is none. */
export function errorRow(stretches: readonly Stretch[]): number | null {
  for (const stretch of stretches) {
    if (stretch.kind === 'gap') continue;
    const found = stretch.pieces.find(({ errorLine }) => errorLine !== null);
    if (found !== undefined) return found.row + (found.errorLine ?? 0);
  }
  return null;
}

/** A row for display. `more`: number of bytes of the line that are not shown. */
export type Row = { kind: 'line'; text: string; more?: number } | { kind: 'gap'; bytes: number };

/** Rules by which lines become rows. */
export interface LineForm {
  /** Maximum number of bytes of a line that a row contains. Only the download has the rest of the line. */
  bytes: number;
  /** Returns the text of a row. */
  text(line: string): string;
}

/** Output for display: long lines are truncated, and control characters are removed or replaced. */
const forDisplay: LineForm = { bytes: 4_096, text: readable };
const lineEnd = 0x0a;

/** Maximum rows per step. A piece can consist entirely of line breaks, each of which ends a row. */
const rowsAtOnce = 500;

/** Yields the rows, starting at `from`, several at a time. */
export async function* rowsFrom(
  stretches: readonly Stretch[],
  from: number,
  read: (piece: StoredPiece) => Promise<Buffer>,
  form: LineForm = forDisplay,
): AsyncGenerator<Row[]> {
  for (const stretch of stretches) {
    if (stretch.row + stretch.rows <= from) continue;
    if (stretch.kind === 'gap') yield [{ kind: 'gap', bytes: stretch.bytes }];
    else yield* linesOf(stretch.pieces, from, read, form);
  }
}

async function* linesOf(
  pieces: readonly PlacedPiece[],
  from: number,
  read: (piece: StoredPiece) => Promise<Buffer>,
  form: LineForm,
): AsyncGenerator<Row[]> {
  // Row `from` may begin inside the last piece that starts in an earlier row.
  const first = Math.max(
    0,
    pieces.findLastIndex(({ row }) => row < from),
  );
  let row = pieces[first]?.row ?? 0;
  const line = new Line(form);
  for (const piece of pieces.slice(first)) {
    const raw = await read(piece);
    const rows: Row[] = [];
    for (let at = 0; at < raw.length; ) {
      const end = raw.indexOf(lineEnd, at);
      if (row >= from) line.add(raw.subarray(at, end < 0 ? raw.length : end));
      if (end < 0) break;
      if (row >= from) rows.push(line.take());
      row += 1;
      at = end + 1;
      if (rows.length === rowsAtOnce) yield rows.splice(0);
    }
    if (rows.length > 0) yield rows;
  }
  if (pieces.at(-1)?.endsLine !== true && row >= from) yield [line.take()];
}

/** A line that arrives in parts. If it is very long, only its beginning is kept. */
class Line {
  readonly #form: LineForm;
  #parts: Buffer[] = [];
  #held = 0;
  #size = 0;

  constructor(form: LineForm) {
    this.#form = form;
  }

  add(part: Buffer): void {
    this.#size += part.length;
    if (this.#held >= this.#form.bytes || part.length === 0) return;
    const kept = part.subarray(0, this.#form.bytes - this.#held);
    this.#parts.push(kept);
    this.#held += kept.length;
  }

  take(): Row {
    const text = this.#form.text(Buffer.concat(this.#parts).toString('utf8'));
    const more = this.#size - this.#held;
    this.#parts = [];
    this.#held = 0;
    this.#size = 0;
    return more > 0 ? { kind: 'line', text, more } : { kind: 'line', text };
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal control sequences begin with this character
const terminal = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Removes terminal control sequences, and replaces other control characters except tabs with U+FFFD. */
function readable(text: string): string {
  return text
    .replace(/\r$/, '')
    .replaceAll(terminal, '')
    .replaceAll(/\p{Cc}/gu, (character) => (character === '\t' ? character : '\uFFFD'));
}
