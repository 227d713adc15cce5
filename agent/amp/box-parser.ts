import { type Box, boxLimits } from './box.ts';

/** Bytes that are not AMP, or more than the limits permit. The connection cannot be used any longer. */
export class AmpFault extends Error {
  override readonly name = 'AmpFault';
}

const maxChunks = 64;

type State = 'key-length' | 'key' | 'value-length' | 'value';

/** Parses boxes from bytes that arrive in pieces of any size. */
export class BoxParser {
  private chunks: Buffer[] = [];
  private available = 0;
  private state: State = 'key-length';
  /** Bytes of the key or value that is being read. */
  private length = 0;
  private key = '';
  private box: Box = new Map();
  private keys = 0;
  private bytes = 0;

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    // A client may send single bytes. Many small chunks would make it slow to take bytes from the front.
    if (this.chunks.length >= maxChunks) this.chunks = [Buffer.concat(this.chunks)];
    this.chunks.push(chunk);
    this.available += chunk.length;
  }

  /** Whether the beginning of another box has arrived. */
  get isWithinBox(): boolean {
    return this.available > 0 || this.keys > 0 || this.state !== 'key-length';
  }

  /** Returns the next whole box; null until more bytes arrive. Throws AmpFault. */
  next(): Box | null {
    for (;;) {
      switch (this.state) {
        case 'key-length': {
          // The first byte is enough to reject a key that is too long.
          if ((this.firstByte() ?? 0) !== 0) throw new AmpFault('A key is longer than 255 bytes.');
          if (!this.takeLength('key')) return null;
          if (this.length === 0) return this.finish();
          break;
        }
        case 'key': {
          const key = this.take(this.length);
          if (key === null) return null;
          this.key = key.toString('latin1');
          this.state = 'value-length';
          break;
        }
        case 'value-length': {
          if (!this.takeLength('value')) return null;
          this.count();
          break;
        }
        default: {
          const value = this.take(this.length);
          if (value === null) return null;
          this.box.set(this.key, value);
          this.state = 'key-length';
        }
      }
    }
  }

  private finish(): Box {
    const { box } = this;
    if (this.keys === 0) throw new AmpFault('A box is empty.');
    this.box = new Map();
    this.keys = 0;
    this.bytes = 0;
    this.state = 'key-length';
    return box;
  }

  /** Counts a key with its value before the value arrives. */
  private count(): void {
    this.keys += 1;
    this.bytes += this.key.length + this.length;
    if (this.keys > boxLimits.keys) throw new AmpFault(`A box has more than ${boxLimits.keys} keys.`);
    if (this.bytes > boxLimits.boxBytes) throw new AmpFault(`A box has more than ${boxLimits.boxBytes} bytes.`);
  }

  private takeLength(next: State): boolean {
    const bytes = this.take(2);
    if (bytes === null) return false;
    this.length = bytes.readUInt16BE();
    this.state = next;
    return true;
  }

  private firstByte(): number | undefined {
    return this.chunks[0]?.[0];
  }

  /** Removes `count` bytes from the bytes that have arrived; null if there are fewer. */
  private take(count: number): Buffer | null {
    if (this.available < count) return null;
    this.available -= count;
    const parts: Buffer[] = [];
    for (let missing = count; missing > 0; ) {
      const chunk = this.chunks[0] ?? Buffer.alloc(0);
      if (chunk.length <= missing) this.chunks.shift();
      else this.chunks[0] = chunk.subarray(missing);
      parts.push(chunk.subarray(0, missing));
      missing -= Math.min(missing, chunk.length);
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  }
}
