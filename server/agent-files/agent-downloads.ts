import { DomainError } from '#server/domain/error.ts';
import { household } from '#server/platform/household.ts';
import type { RequestInfo } from '#server/process/http.ts';

/** A file that machines download. */
export interface ServedFile {
  size: number;
  /** Reads at most `length` bytes from position `at`. */
  read(at: number, length: number): Promise<Uint8Array> | Uint8Array;
}

/**
 * Maximum number of concurrent downloads of large files per process, and per client address. Further requests get 503
 * with `Retry-After`.
 */
const maxDownloads = 64;
const maxPerAddress = 16;
const chunkBytes = 256 * 1024;
/** Minimum rate at which a client must read. Without it, a few clients that read nothing would block all others. */
const leastBytesPerSecond = 4 * 1024;

/** A client that downloads a file. */
export type DownloadingClient = Pick<RequestInfo, 'remoteAddress' | 'disconnect'>;

/** Streams files without authentication. Disconnects slow clients, and limits concurrent downloads of large files. */
export class AgentDownloads {
  readonly #byAddress = new Map<string, number>();
  readonly #periodMs: number;
  #running = 0;

  /** `periodMs`: time over which the rate of a download is measured, in milliseconds. */
  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Returns the content of a large file. Throws 503 `downloads_busy` if too many such downloads are running. */
  large(file: ServedFile, client: DownloadingClient): ReadableStream<Uint8Array> {
    return this.small(file, client, this.#take(household(client.remoteAddress)));
  }

  /** Returns the content of a file. Disconnects a client that reads too slowly. Calls `onEnd` when the download ends. */
  small(file: ServedFile, client: DownloadingClient, onEnd?: () => void): ReadableStream<Uint8Array> {
    let at = 0;
    let seen = 0;
    const timer = setInterval(() => {
      if (at - seen < (leastBytesPerSecond * this.#periodMs) / 1_000) client.disconnect();
      seen = at;
    }, this.#periodMs).unref();
    const end = (): void => {
      clearInterval(timer);
      onEnd?.();
    };
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      try {
        const chunk = await file.read(at, Math.min(chunkBytes, file.size - at));
        at += chunk.length;
        controller.enqueue(chunk);
        if (at < file.size) return;
        end();
        controller.close();
      } catch (error) {
        end();
        throw error;
      }
    };
    return new ReadableStream<Uint8Array>({ pull, cancel: end }, { highWaterMark: 0 });
  }

  #take(address: string): () => void {
    const own = this.#byAddress.get(address) ?? 0;
    if (this.#running >= maxDownloads || own >= maxPerAddress) {
      throw new DomainError('unavailable', 'downloads_busy', { retryAfter: 10 });
    }
    this.#running += 1;
    this.#byAddress.set(address, own + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#running -= 1;
      const left = (this.#byAddress.get(address) ?? 1) - 1;
      if (left === 0) this.#byAddress.delete(address);
      else this.#byAddress.set(address, left);
    };
  }
}
