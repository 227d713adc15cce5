/** Rows that a URL names, counted from 0, up to and including `to`. */
export interface MarkedRows {
  from: number;
  to: number;
}

/** Returns the rows that a fragment such as `#L12` or `#L12-L20` names; null for any other fragment. */
export function rowsInHash(hash: string): MarkedRows | null {
  const [, first, last] = /^#L(\d{1,9})(?:-L(\d{1,9}))?$/.exec(hash) ?? [];
  if (first === undefined || Number(first) === 0) return null;
  const [from, to] = [Number(first) - 1, Number(last ?? first) - 1];
  return { from: Math.min(from, to), to: Math.max(from, to) };
}

export const hashOfRows = ({ from, to }: MarkedRows): string =>
  from === to ? `#L${from + 1}` : `#L${from + 1}-L${to + 1}`;
