/** Calls may overtake each other by this many; a number that was used before, or is older, comes from a copy. */
const width = 64;
/** Calls that may have been under way when the number was last written down. */
const tolerated = 8;

/** A machine that counts its calls stays below a jump of this, and below so many calls a second since it last called. */
const jump = { once: 1_000_000, perSecond: 10_000 };

/** The call numbers of one machine seen lately: a machine that was copied repeats what its original already said. */
export interface CallWindow {
  /** The highest number so far; -1 before the first call. */
  highest: number;
  /** Which of the numbers `highest - 0` … `highest - 63` were used: the first 32, and the others. */
  near: number;
  far: number;
}

/**
 * Takes a call's number into the window. False where it was used before. `known` is the number last written down, from
 * which a process that has not met the machine goes on.
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
 * Whether a number is so far above the last one that it cannot come from counting: taken in, it would lock the machine
 * out that counts on from its own. `sinceMs` is the time since that last call; null where there was none.
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
