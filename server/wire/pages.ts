/** A blob that is written in parts is put together here, as long as it is not larger than a status may be. */
export class Pages {
  #bytes: Buffer | null = null;
  #written = 0;

  /** Begins a blob of so many bytes; another one that was begun is given up. */
  begin(length: number): void {
    this.#bytes = Buffer.alloc(length, ' ');
    this.#written = 0;
  }

  /** Puts a page in its place. Returns the blob when it is whole, null before, and false where the page fits nowhere. */
  put(start: number, page: Buffer): Buffer | null | false {
    const blob = this.#bytes;
    if (blob === null || start + page.length > blob.length) return false;
    page.copy(blob, start);
    this.#written += page.length;
    if (this.#written < blob.length) return null;
    this.#bytes = null;
    return blob;
  }
}
