/** A row to draw, or so many rows of which only the place is kept. Places count from 0. */
export type RowOrGap = { at: number; gap?: never } | { at: number; gap: number };

/** A list of `count` rows of which those between `first` and `last` are drawn, as far as they are here. */
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
