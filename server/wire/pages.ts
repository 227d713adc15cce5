import { LRUCache } from 'lru-cache';

/** Maximum bytes of all VMs' unfinished blobs together. Beyond that, the least recently used blob is discarded. */
const maxBytes = 32 * 1_024 * 1_024;
/** Lifetime of an unfinished blob in milliseconds. Agents write blobs without pauses. */
const keptMs = 60_000;

/** Assembles blobs that agents write page by page, one blob per VM. */
export class Pages {
  readonly #begun = new LRUCache<string, { bytes: Buffer; written: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes.length,
    ttl: keptMs,
  });

  /** Starts a blob of this length, and discards the VM's unfinished blob. */
  begin(vmId: string, length: number): void {
    this.#begun.set(vmId, { bytes: Buffer.alloc(length, ' '), written: 0 });
  }

  /**
   * Adds a page. Returns the blob if it is complete, null if it is not, and false if the page does not fit or the VM
   * has no unfinished blob.
   */
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
