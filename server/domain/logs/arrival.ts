import type { Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { slot } from '#server/platform/process-memory.ts';

const retryAfter = 10;

/** Number of bytes that were received but not yet stored, by VM. */
const arrivingBytes = slot(() => new Map<string, number>());

/**
 * Counts the bytes of one call until they are stored or discarded. Otherwise, a VM that starts many uploads and
 * finishes none could fill the disk before the limits on stored data apply.
 */
export class IncomingBytes {
  readonly #arriving: Map<string, number>;
  readonly #vmId: string;
  readonly #room: number;
  #own = 0;

  constructor({ config, memory }: Pick<Services, 'config' | 'memory'>, vmId: string) {
    const { logs } = config.limits;
    this.#arriving = memory.of(arrivingBytes);
    this.#vmId = vmId;
    // A single upload within its limit is always allowed.
    this.#room = Math.max(logs.arrivingBytes, logs.outputBytes, logs.archiveBytes);
  }

  /**
   * Yields the body as it arrives. Throws 429 `uploads_waiting` if the VM's concurrent calls together hold too many
   * bytes.
   */
  async *count(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      this.#add(chunk.length);
      yield chunk;
    }
  }

  end(): void {
    const others = (this.#arriving.get(this.#vmId) ?? 0) - this.#own;
    this.#own = 0;
    if (others > 0) this.#arriving.set(this.#vmId, others);
    else this.#arriving.delete(this.#vmId);
  }

  #add(bytes: number): void {
    const all = (this.#arriving.get(this.#vmId) ?? 0) + bytes;
    this.#own += bytes;
    this.#arriving.set(this.#vmId, all);
    if (all <= this.#room || all === this.#own) return;
    const params = { limit: this.#room, seconds: retryAfter };
    throw new DomainError('rate_limited', 'uploads_waiting', { params, retryAfter });
  }
}
