import { cutText, utf8Bytes } from '#protocol/index.ts';
import type { LocalizedMessage } from '#server/domain/localization/index.ts';

/** Bytes of what handlers said in one view. A guest decides how much it reports, so the view has a bound of its own. */
export const maxViewBytes = 4 * 1024 * 1024;

/** Every message keeps this much, so that none is lost altogether. */
const leastBytes = 256;
/** Names, codes and punctuation of one part in the answer. */
const partBytes = 200;

/** The bytes that one extension may take of a view. */
export class Share {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** What is left; never less than nothing. */
  get left(): number {
    return Math.max(0, this.#left);
  }

  /** Takes a part in; false where nothing is left for it. */
  takePart(): boolean {
    if (this.#left <= 0) return false;
    this.#left -= partBytes;
    return true;
  }

  /** A text as far as it fits. */
  text(text: string): string {
    const shown = cutText(text, Math.max(leastBytes, this.left));
    this.#left -= utf8Bytes(shown);
    return shown;
  }

  /** A message as far as it fits: where it does not, without its params and with a cut text. */
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
 * Shares a view's bytes out among extensions, the one that needs least first: what it leaves over goes to the others.
 * Calls `build` once for each and gives the results in the order of the items.
 */
export function shareOut<Item, Result>(
  items: readonly Item[],
  needs: (item: Item) => number,
  build: (item: Item, share: Share) => Result,
  bytes = maxViewBytes,
): Result[] {
  const order = items.map((item, index) => ({ item, index, need: needs(item) })).toSorted((a, b) => a.need - b.need);
  const results: Result[] = new Array(items.length);
  let left = bytes;
  for (const [place, { item, index }] of order.entries()) {
    const allowed = Math.floor(left / (order.length - place));
    const share = new Share(allowed);
    results[index] = build(item, share);
    left -= allowed - share.left;
  }
  return results;
}
