import { StringDecoder } from 'node:string_decoder';
import { Mask } from '../handler/mask.ts';

/** Maximum length of a line in a row, in characters. A longer line continues in the next row. */
const maxLine = 16 * 1024;
/** Time without output after which an incomplete line is written. */
const quietMilliseconds = 1_000;

/** Masks secrets in output, and splits the output into lines. */
export class Lines {
  private readonly mask: Mask;
  private readonly decoder = new StringDecoder('utf8');
  private readonly onLine: (text: string, goesOn: boolean) => void;
  private open = '';
  private quiet: NodeJS.Timeout | undefined;
  /** Number of bytes still to drop, because they may be the rest of a secret. */
  private skip = 0;
  private isLeft = false;

  /** `goesOn`: the line continues in the next call of `onLine`. */
  constructor(secrets: readonly string[], onLine: (text: string, goesOn: boolean) => void) {
    this.mask = new Mask(secrets);
    this.onLine = onLine;
  }

  /** Adds secrets that became known while the output is being read. */
  learn(secrets: readonly string[]): void {
    this.mask.learn(secrets);
  }

  /** Drops bytes that may be the rest of a secret, because earlier output is missing. */
  skipSecret(): void {
    this.skip = this.mask.reach;
  }

  write(chunk: Buffer): void {
    const skipped = Math.min(this.skip, chunk.length);
    this.skip -= skipped;
    this.take(this.decoder.write(this.mask.push(chunk.subarray(skipped))));
    clearTimeout(this.quiet);
    if (this.open !== '') this.quiet = setTimeout(() => this.flush(true), quietMilliseconds);
  }

  /** Writes the rest of the output. */
  end(): void {
    if (this.isLeft) return;
    clearTimeout(this.quiet);
    this.take(this.decoder.write(this.mask.end()) + this.decoder.end());
    this.flush(false);
  }

  /**
   * Writes the incomplete line, which continues in the next run of the agent. Drops text that may be the beginning of a
   * secret.
   */
  leave(): void {
    clearTimeout(this.quiet);
    this.flush(true);
    this.isLeft = true;
  }

  private take(text: string): void {
    this.open += text;
    let at = 0;
    for (let end = this.open.indexOf('\n'); end >= 0; end = this.open.indexOf('\n', at)) {
      this.cut(this.open.slice(at, end), false);
      at = end + 1;
    }
    this.open = this.open.slice(at);
    if (this.open.length > maxLine) {
      const whole = this.open.length - (this.open.length % maxLine);
      this.cut(this.open.slice(0, whole), true);
      this.open = this.open.slice(whole);
    }
  }

  /** Writes a line in parts of at most `maxLine` characters. */
  private cut(line: string, goesOn: boolean): void {
    let at = 0;
    for (; line.length - at > maxLine; at += maxLine) this.onLine(line.slice(at, at + maxLine), true);
    this.onLine(line.slice(at), goesOn);
  }

  private flush(goesOn: boolean): void {
    if (this.open === '') return;
    const line = this.open;
    this.open = '';
    this.onLine(line, goesOn);
  }
}
