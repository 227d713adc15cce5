const enough = 512;

/** Checks the first line of a file: an interpreter line that ends in CR LF does not start on Linux. */
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
