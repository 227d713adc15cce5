import { LRUCache } from 'lru-cache';

/** Bytes of blobs that are begun, of all VMs together; beyond it the one that was begun first is given up. */
const maxBytes = 32 * 1_024 * 1_024;
/** The agent writes a blob in one go. */
const keptMs = 60_000;

/** Blobs that are written in parts are put together here, one of each VM, as long as none is larger than a status may be. */
export class Pages {
  readonly #begun = new LRUCache<string, { bytes: Buffer; written: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes.length,
    ttl: keptMs,
  });

  /** Begins a blob of so many bytes; another one that the VM has begun is given up. */
  begin(vmId: string, length: number): void {
    this.#begun.set(vmId, { bytes: Buffer.alloc(length, ' '), written: 0 });
  }

  /** Puts a page in its place. Returns the blob when it is whole, null before, and false where the page fits nowhere. */
  put(vmId: string, start: number, page: Buffer): Buffer | null | false {
    const blob = this.#begun.get(vmId);
    if (blob === undefined || start + page.length > blob.bytes.length) return false;
    page.copy(blob.bytes, start);
    blob.written += page.length;
    if (blob.written < blob.bytes.length) return null;
    this.#begun.delete(vmId);
    return blob.bytes;
  }
}
