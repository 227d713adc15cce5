/** A row to render, or a gap of `gap` rows. `at` is the index of the first row, from 0. */
export type RowOrGap = { at: number; gap?: never } | { at: number; gap: number };

/**
 * Splits a list of `count` rows: loaded rows between `first` and `last` are rendered, and all other rows are in gaps.
 */
export function pieces(first: number, last: number, count: number, isHere: (at: number) => boolean): RowOrGap[] {
  const all: RowOrGap[] = [];
  let next = 0;
  for (let at = first; at <= last; at++) {
    if (!isHere(at)) continue;
    if (at > next) all.push({ at: next, gap: at - next });
    all.push({ at });
    next = at + 1;
  }
  if (count > next) all.push({ at: next, gap: count - next });
  return all;
}
