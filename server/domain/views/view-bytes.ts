import { cutText, utf8Bytes } from '#protocol/index.ts';
import type { LocalizedMessage } from '#server/domain/localization/index.ts';

/** Maximum bytes of handlers' messages in one view. VMs decide how much they report, so a view limits what it shows. */
export const maxViewBytes = 4 * 1024 * 1024;

/** Minimum bytes for each message, so that none disappears completely. */
const minBytes = 256;
/** Approximate bytes of the field names, codes and punctuation of one part in the response. */
const partBytes = 200;

/** The bytes that one extension may use in a view. */
export class ByteShare {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** The remaining bytes; never negative. */
  get left(): number {
    return Math.max(0, this.#left);
  }

  /** Takes the bytes that one part needs. Returns false if none are left. */
  takePart(): boolean {
    if (this.#left <= 0) return false;
    this.#left -= partBytes;
    return true;
  }

  /** Returns the text, truncated if it does not fit. */
  text(text: string): string {
    const shown = cutText(text, Math.max(minBytes, this.left));
    this.#left -= utf8Bytes(shown);
    return shown;
  }

  /**
   * Returns the message. If it does not fit, its params and its original text are removed, and its text is truncated.
   */
  message(message: LocalizedMessage): LocalizedMessage {
    const { text, params = [], original = '' } = message;
    const extra = [...params, original].reduce((bytes, each) => bytes + utf8Bytes(each), 0);
    if (utf8Bytes(text) + extra <= this.left) {
      this.#left -= extra;
      return { ...message, text: this.text(text) };
    }
    const { params: _, original: __, ...rest } = message;
    return { ...rest, text: this.text(text), truncated: true };
  }
}

/**
 * Distributes a view's bytes among items, such as extensions. Starts with the smallest item, so that bytes that it does
 * not need go to larger items. Calls `build` once for each item and returns the results in the order of the items.
 */
export function distributeBytes<Item, Result>(
  items: readonly Item[],
  needs: (item: Item) => number,
  build: (item: Item, share: ByteShare) => Result,
  bytes = maxViewBytes,
): Result[] {
  const order = items.map((item, index) => ({ item, index, need: needs(item) })).toSorted((a, b) => a.need - b.need);
  const results: Result[] = new Array(items.length);
  let left = bytes;
  for (const [place, { item, index }] of order.entries()) {
    const allowed = Math.floor(left / (order.length - place));
    const share = new ByteShare(allowed);
    results[index] = build(item, share);
    left -= allowed - share.left;
  }
  return results;
}
