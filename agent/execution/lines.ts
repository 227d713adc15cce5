import { StringDecoder } from 'node:string_decoder';
import { Mask } from '../handler/mask.ts';

/** Size limit of a line in a transcript, in characters; a longer one goes on in the next row. */
const maxLine = 16 * 1024;
/** A line without its end is written after this time without output. */
const quietMilliseconds = 1_000;

/** Cuts output into lines, with secrets masked. */
export class Lines {
  private readonly mask: Mask;
  private readonly decoder = new StringDecoder('utf8');
  private readonly onLine: (text: string, goesOn: boolean) => void;
  private open = '';
  private quiet: NodeJS.Timeout | undefined;

  /** `goesOn`: the line continues in the next call. */
  constructor(secrets: readonly string[], onLine: (text: string, goesOn: boolean) => void) {
    this.mask = new Mask(secrets);
    this.onLine = onLine;
  }

  write(chunk: Buffer): void {
    this.take(this.decoder.write(this.mask.push(chunk)));
    clearTimeout(this.quiet);
    if (this.open !== '') this.quiet = setTimeout(() => this.flush(true), quietMilliseconds);
  }

  /** Writes what is left. */
  end(): void {
    clearTimeout(this.quiet);
    this.take(this.decoder.write(this.mask.end()) + this.decoder.end());
    this.flush(false);
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

  /** Writes a line in rows of at most `maxLine` characters. */
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
