const enough = 512;

/** Checks the first line of a file: Linux cannot start a script whose interpreter line ends with CR LF. */
export class HeadReader {
  private head = Buffer.alloc(0);

  take(chunk: Buffer): void {
    if (this.head.length < enough) this.head = Buffer.concat([this.head, chunk.subarray(0, enough)]);
  }

  isScriptWithCrLf(): boolean {
    const text = this.head.toString('latin1');
    return text.startsWith('#!') && /^[^\n]*\r\n/.test(text);
  }
}
