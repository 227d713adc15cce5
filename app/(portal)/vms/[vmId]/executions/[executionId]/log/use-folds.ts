'use client';

import { useEffect, useMemo, useState } from 'react';
import type { ShownCall } from '#app/(portal)/executions/execution-data.ts';
import { type Fold, toggledInAddress, withToggledCalls } from './folds.ts';

/** Calls with at most this number of lines are not folded, because folding them saves little space. */
const fewLines = 10;
const none: ReadonlySet<number> = new Set();

/**
 * Returns the folded calls of a log. A long successful call is folded when it ends, but only while the reader is at the
 * end of the log, so that visible rows do not move. The URL lists the calls that the reader folded or unfolded.
 */
export function useFolds(calls: readonly ShownCall[], isAtEnd: boolean) {
  const [settled, setSettled] = useState<ReadonlySet<number>>(() => new Set(calls.filter(canFold).map(({ n }) => n)));
  // Null until the URL is read in the browser.
  const [toggled, setToggled] = useState<ReadonlySet<number> | null>(null);
  useEffect(() => setToggled(toggledInAddress(window.location.search)), []);
  useEffect(() => {
    if (toggled === null) return;
    const { pathname, search, hash } = window.location;
    const next = withToggledCalls(search, toggled);
    if (next !== search) window.history.replaceState(window.history.state, '', `${pathname}${next}${hash}`);
  }, [toggled]);
  const ended = calls.filter((call) => canFold(call) && !settled.has(call.n));
  if (isAtEnd && ended.length > 0) setSettled(new Set([...settled, ...ended.map(({ n }) => n)]));
  const folded = useMemo(
    () =>
      new Set(
        calls
          .filter(
            (call) => canFold(call) && (settled.has(call.n) && isLongSuccess(call)) !== (toggled ?? none).has(call.n),
          )
          .map(({ n }) => n),
      ),
    [calls, settled, toggled],
  );
  const set = (call: ShownCall, isFolded: boolean) => {
    setSettled(new Set(settled).add(call.n));
    setToggled((current) => {
      const next = new Set(current);
      if (isFolded === isLongSuccess(call)) next.delete(call.n);
      else next.add(call.n);
      return next;
    });
  };
  return {
    folded,
    toggle: (call: ShownCall) => set(call, !folded.has(call.n)),
    unfold: (call: ShownCall) => set(call, false),
  };
}

const canFold = ({ row, untilRow }: ShownCall): boolean => untilRow !== null && untilRow > row;

const isLongSuccess = ({ state, row, untilRow }: ShownCall): boolean =>
  state === 'succeeded' && untilRow !== null && untilRow - row - 1 > fewLines;

/** Returns the rows that each folded call hides: all rows after its first row. */
export function rowsOfFolds(calls: readonly ShownCall[], folded: ReadonlySet<number>): Fold[] {
  return calls.flatMap(({ n, row, untilRow }) =>
    folded.has(n) && untilRow !== null ? [{ from: row + 1, to: untilRow + 1 }] : [],
  );
}
