import type { Socket } from 'node:net';
import type { ProxyMember } from './members.ts';

/** A client’s connection and the connection to its member, joined. */
export class ProxyLink {
  readonly member: ProxyMember;
  readonly begunAt: number;
  readonly #client: Socket;
  readonly #target: Socket;
  #counted = 0;
  #lastAt: number;

  constructor(member: ProxyMember, client: Socket, target: Socket, now: number) {
    this.member = member;
    this.#client = client;
    this.#target = target;
    this.begunAt = now;
    this.#lastAt = now;
  }

  /**
   * Passes bytes in both directions. If one side ends its direction, the other direction stays open. If one side is
   * slow, reading from the other one pauses. `onEnd` is called once both connections are closed.
   */
  join(onEnd: () => void): void {
    let open = 2;
    for (const [from, to] of [[this.#client, this.#target] as const, [this.#target, this.#client] as const]) {
      from.on('error', () => to.resetAndDestroy());
      from.once('close', () => {
        // A connection whose two directions ended closes the other one by `end`. Otherwise, it was interrupted.
        if (!to.destroyed && !(from.readableEnded && from.writableFinished)) to.destroy();
        open -= 1;
        if (open === 0) onEnd();
      });
      from.pipe(to);
    }
  }

  /** Whether the member closed the connection without sending a byte, although the client still had it open. */
  get isRefused(): boolean {
    return this.#target.bytesRead === 0 && !this.#client.readableEnded && this.#target.readableEnded;
  }

  /** Returns the bytes since the last call, in both directions. */
  takeBytes(now: number): number {
    const all = this.#client.bytesRead + this.#target.bytesRead;
    const bytes = all - this.#counted;
    this.#counted = all;
    if (bytes > 0) this.#lastAt = now;
    return bytes;
  }

  /** Milliseconds without a byte, as of the last call of `takeBytes`. */
  idleMs(now: number): number {
    return now - this.#lastAt;
  }

  /** Resets both connections, so that neither side waits for more. */
  destroy(): void {
    this.#client.resetAndDestroy();
    this.#target.resetAndDestroy();
  }
}
