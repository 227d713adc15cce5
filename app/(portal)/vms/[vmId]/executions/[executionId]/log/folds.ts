/** Rows that are hidden: from `from`, up to but not including `to`. */
export interface Fold {
  from: number;
  to: number;
}

/** The rows that remain visible if some are folded. */
export interface UnfoldedRows {
  count: number;
  /** Returns the row at a position in the list. */
  rowAt(position: number): number;
  /** Returns the position of a row or, if the row is hidden, the position of the row before its fold. */
  positionOf(row: number): number;
}

/** Returns which of `total` rows remain visible. Folds must not overlap. */
export function visibleRows(total: number, folds: readonly Fold[]): UnfoldedRows {
  const sorted = folds
    .map(({ from, to }) => ({ from, to: Math.min(to, total) }))
    .filter(({ from, to }) => to > from)
    .toSorted((a, b) => a.from - b.from);
  const hidden = sorted.reduce((sum, { from, to }) => sum + to - from, 0);
  return {
    count: total - hidden,
    rowAt(position) {
      let row = position;
      for (const { from, to } of sorted) {
        if (row < from) break;
        row += to - from;
      }
      return row;
    },
    positionOf(row) {
      let position = row;
      for (const { from, to } of sorted) {
        if (row < from) break;
        position -= Math.min(row + 1, to) - from;
      }
      return Math.max(0, position);
    },
  };
}

/** Returns the numbers of the calls in a query such as `?folds=1.4`. */
export function toggledInAddress(search: string): ReadonlySet<number> {
  const named = new URLSearchParams(search).get('folds') ?? '';
  return new Set(named.split('.').flatMap((part) => (/^\d{1,6}$/.test(part) ? [Number(part)] : [])));
}

/** Returns the query with the numbers of the calls that the reader folded or unfolded. Keeps other parameters. */
export function withToggledCalls(search: string, calls: ReadonlySet<number>): string {
  const query = new URLSearchParams(search);
  query.delete('folds');
  if (calls.size > 0) query.set('folds', [...calls].sort((a, b) => a - b).join('.'));
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}
