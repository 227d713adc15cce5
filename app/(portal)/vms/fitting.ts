/**
 * Widths in pixels, in this order: an average letter at 12 px, a chip's padding and icon, the gap after a chip, the
 * chip that shows how many do not fit, and the widest chip.
 */
const letter = 6.6;
const around = 32;
const gap = 4;
const rest = 36;
const widest = 192;

/** Estimates the width in pixels of a chip with this label, and the gap after it. */
export const chipWidth = (label: string): number => Math.min(widest, label.length * letter + around) + gap;

/** Returns how many of these labels fit side by side as chips: at least one, because a chip can be truncated. */
export function fitting(words: readonly string[], room: number): number {
  let used = 0;
  for (const [index, word] of words.entries()) {
    used += chipWidth(word);
    const isLast = index === words.length - 1;
    if (used - gap + (isLast ? 0 : rest) > room) return Math.max(1, index);
  }
  return words.length;
}
