import type { Readable } from 'node:stream';
import { DomainError } from '#server/domain/error.ts';

/** Of one VM. The agent has four, and those that broke off are known to be gone two minutes later. */
const most = 8;
const retryAfter = 10;

/** Downloads of each VM that are under way. */
const underWay = new Map<string, number>();

/** One download of a VM, counted until its bytes are through or given up. Throws 429 `downloads_waiting`. */
export class Download {
  readonly #vmId: string;

  constructor(vmId: string) {
    const count = underWay.get(vmId) ?? 0;
    if (count >= most) {
      const params = { limit: most, seconds: retryAfter };
      throw new DomainError('rate_limited', 'downloads_waiting', { params, retryAfter });
    }
    this.#vmId = vmId;
    underWay.set(vmId, count + 1);
  }

  /** Opens what is sent; the download ends with it, and where there is none. */
  async open<B extends { stream: Readable }>(opening: Promise<B | null>): Promise<B | null> {
    const blob = await opening.catch((error: unknown) => {
      this.#end();
      throw error;
    });
    if (blob === null) this.#end();
    else blob.stream.once('close', () => this.#end());
    return blob;
  }

  #end(): void {
    const others = (underWay.get(this.#vmId) ?? 0) - 1;
    if (others > 0) underWay.set(this.#vmId, others);
    else underWay.delete(this.#vmId);
  }
}
