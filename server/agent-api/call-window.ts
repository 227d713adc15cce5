/**
 * How many recent call numbers are tracked. A call with an older number, or with a number that was
 * already used, comes from a copy of the machine.
 */
const width = 64;
/** The maximum number of calls that may have been in transit when the counter was last stored. */
const tolerated = 8;

/** How far a counter may plausibly advance: `once`, plus `perSecond` for each second since the last call. */
const jump = { once: 1_000_000, perSecond: 10_000 };

/** The recent call numbers of one machine. A copy of the machine would repeat the numbers of the original. */
export interface CallWindow {
  /** The highest number so far; -1 before the first call. */
  highest: number;
  /**
   * Bits of the numbers already used: `near` covers `highest` to `highest - 31`, and `far` covers the 32 numbers before
   * those.
   */
  near: number;
  far: number;
}

/**
 * Adds a call's number to the window. Returns false if the number was used before or is too old. `known` is the stored
 * number, from which a process starts if it has not seen the machine before.
 */
export function acceptCall(window: CallWindow, counter: number, known: number): boolean {
  const { highest } = window;
  if (highest < 0) {
    if (counter <= Math.max(0, known - tolerated)) return false;
    window.highest = counter;
    window.near = 1;
    window.far = 0;
    return true;
  }
  if (counter > highest) {
    shift(window, counter - highest);
    window.highest = counter;
    window.near |= 1;
    return true;
  }
  const back = highest - counter;
  if (back >= width) return false;
  const bit = 1 << (back % 32);
  const used = back < 32 ? window.near : window.far;
  if ((used & bit) !== 0) return false;
  if (back < 32) window.near |= bit;
  else window.far |= bit;
  return true;
}

/**
 * Whether a number is too far above the last number to result from counting. Accepting it would lock out the machine,
 * which continues with lower numbers. `sinceMs` is the time since the last call; null before the first call.
 */
export function isJump(window: CallWindow, counter: number, known: number, sinceMs: number | null): boolean {
  const last = Math.max(window.highest, known);
  if (last <= 0 || sinceMs === null) return false;
  return counter > last + jump.once + (Math.max(0, sinceMs) / 1000) * jump.perSecond;
}

function shift(window: CallWindow, by: number): void {
  const { near, far } = window;
  if (by >= width) {
    window.near = 0;
    window.far = 0;
  } else if (by >= 32) {
    window.far = by === 32 ? near : near << (by - 32);
    window.near = 0;
  } else {
    window.far = (far << by) | (near >>> (32 - by));
    window.near = near << by;
  }
}
