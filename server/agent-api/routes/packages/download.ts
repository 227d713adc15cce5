import type { Readable } from 'node:stream';
import { DomainError } from '#server/domain/error.ts';
import { slot } from '#server/platform/process-memory.ts';

/**
 * Maximum number of concurrent downloads per VM. The agent runs up to four at a time, and an interrupted download may
 * count for up to two more minutes.
 */
const maxDownloads = 8;
const retryAfter = 10;

/** Limits the concurrent downloads of each VM, so that one machine cannot use all connections. */
export class Downloads {
  readonly #running = new Map<string, number>();

  /**
   * Opens a package for a VM, and counts the download until it is completed or abandoned. Throws 429
   * `downloads_waiting` if the VM already has `maxDownloads` downloads.
   */
  async open<B extends { stream: Readable }>(vmId: string, opening: () => Promise<B | null>): Promise<B | null> {
    const count = this.#running.get(vmId) ?? 0;
    if (count >= maxDownloads) {
      const params = { limit: maxDownloads, seconds: retryAfter };
      throw new DomainError('rate_limited', 'downloads_waiting', { params, retryAfter });
    }
    this.#running.set(vmId, count + 1);
    const blob = await opening().catch((error: unknown) => {
      this.#end(vmId);
      throw error;
    });
    if (blob === null) this.#end(vmId);
    else blob.stream.once('close', () => this.#end(vmId));
    return blob;
  }

  #end(vmId: string): void {
    const others = (this.#running.get(vmId) ?? 0) - 1;
    if (others > 0) this.#running.set(vmId, others);
    else this.#running.delete(vmId);
  }
}

export const downloads = slot(() => new Downloads());
