import { existsSync, readFileSync } from 'node:fs';

const lineFeed = 0x0a;

type BodyRow = 'out' | 'err' | 'log';

/**
 * When a Body runs again, decides which of its output is new. All output before the last call of the journal is
 * already in the transcript. Of the output after that call, the transcript has the lines that an earlier run wrote.
 */
export class ReplayedOutput {
  private last: number;
  private reached = 0;
  private readonly written: Record<BodyRow, number>;

  /** `last`: number of the last call in the journal. */
  constructor(transcript: string, last: number) {
    this.last = last;
    this.written = bodyRowsAfter(transcript, last);
  }

  /** Whether the Body has yet to make the last call of the journal. */
  get isReplaying(): boolean {
    return this.reached < this.last;
  }

  /** Whether the journal has calls after this one. If so, all output before this call is already in the transcript. */
  isBeforeLast(n: number): boolean {
    return n < this.last;
  }

  /** Notes that the Body has made a call. */
  noteCall(n: number): void {
    this.reached = n;
  }

  /** Notes that the journal no longer has this call and later ones: from here on, all output is new. */
  noteDropped(n: number): void {
    this.last = Math.min(this.last, n - 1);
    Object.assign(this.written, { out: 0, err: 0, log: 0 });
  }

  /** Whether the Body's next row of this kind is new. `isPart`: the row is an incomplete line. */
  isNew(kind: BodyRow, isPart = false): boolean {
    if (this.isReplaying) return false;
    if (this.written[kind] === 0) return true;
    if (!isPart) this.written[kind] -= 1;
    return false;
  }
}

/** Counts the Body's rows after the last row that records the start of call `n`; all rows if `n` is 0. */
function bodyRowsAfter(path: string, n: number): Record<BodyRow, number> {
  const counts = { out: 0, err: 0, log: 0 };
  if (!existsSync(path)) return counts;
  const bytes = readFileSync(path);
  let at = 0;
  for (let end = bytes.indexOf(lineFeed); end >= 0; end = bytes.indexOf(lineFeed, at)) {
    const [, kind, number, , goesOn] = rowIn(bytes.subarray(at, end));
    at = end + 1;
    if (kind === 'call' && number === n) Object.assign(counts, { out: 0, err: 0, log: 0 });
    else if (kind === 'log') counts.log += 1;
    else if ((kind === 'out' || kind === 'err') && number === 0 && goesOn !== 1) counts[kind] += 1;
  }
  return counts;
}

function rowIn(line: Buffer): unknown[] {
  try {
    const row: unknown = JSON.parse(line.toString('utf8'));
    return Array.isArray(row) ? row : [];
  } catch {
    return [];
  }
}
