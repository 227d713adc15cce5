'use client';

import { useVirtualizer } from '@tanstack/react-virtual';
import { type MouseEvent, type RefObject, useEffect, useLayoutEffect, useMemo, useState } from 'react';
import type { ShownExecutionDetails } from '#app/(portal)/executions/execution-data.ts';
import { type Fold, visibleRows } from './folds.ts';
import { hashOfRows, type MarkedRows } from './marked-rows.ts';
import { useFollow } from './use-follow.ts';
import { type FirstWindow, useLog } from './use-log.ts';
import { useMarkedInAddress } from './use-marked-in-address.ts';

export const rowHeight = 20;

export interface LogRowsInput {
  execution: ShownExecutionDetails;
  first: FirstWindow | undefined;
  isLive: boolean;
}

/** The rows of a log in a scrolling frame: which are loaded, visible, folded and marked, and how to move between them. */
export function useLogRows(frame: RefObject<HTMLElement | null>, { execution, first: start, isLive }: LogRowsInput) {
  const { calls } = execution;
  const [marked, setMarked] = useState<MarkedRows | null>(null);
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const [target, setTarget] = useState<{ row: number } | null>(null);
  const [span, setSpan] = useState({ first: 0, last: 0 });
  const log = useLog({ vmId: execution.vmId, executionId: execution.id }, span, start);
  const { total } = log;
  const rows = useMemo(() => visibleRows(total, foldsOf(calls, folded)), [total, calls, folded]);
  const follow = useFollow(frame, rows.count, isLive);
  const virtual = useVirtualizer({
    count: rows.count,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 20,
    // `flushSync` would render the rows a second time on every scroll event.
    useFlushSync: false,
    initialRect: { width: 900, height: 560 },
  });
  const items = virtual.getVirtualItems();
  const [first, last] = [rows.rowAt(items[0]?.index ?? 0), rows.rowAt(items.at(-1)?.index ?? 0)];
  useEffect(() => setSpan({ first, last }), [first, last]);
  const show = (range: MarkedRows) => {
    const hiding = calls.find(({ row, untilRow }) => range.from > row && range.from <= (untilRow ?? row));
    if (hiding !== undefined && folded.has(hiding.n)) setFolded(without(folded, hiding.n));
    follow.stop();
    setMarked(range);
    setTarget({ row: range.from });
  };
  // After the render in which the call of the row is open.
  // biome-ignore lint/correctness/useExhaustiveDependencies: later changes of the rows must not scroll again
  useLayoutEffect(() => {
    if (target !== null) virtual.scrollToIndex(rows.positionOf(target.row), { align: 'center' });
  }, [target]);
  useMarkedInAddress(log.isLoaded, show);
  return {
    ...{ log, rows, follow, virtual, items, marked, folded, show },
    fold: (n: number) => setFolded(folded.has(n) ? without(folded, n) : new Set(folded).add(n)),
    /** Marks a row, or with Shift the rows up to it, and puts them into the URL. */
    mark(event: MouseEvent<HTMLAnchorElement>, row: number) {
      event.preventDefault();
      const from = event.shiftKey && marked !== null ? marked.from : row;
      const range = { from: Math.min(from, row), to: Math.max(from, row) };
      setMarked(range);
      follow.stop();
      window.history.replaceState(window.history.state, '', hashOfRows(range));
    },
    /** Moves to the next or the previous call. */
    step(by: 1 | -1) {
      const top = rows.rowAt(virtual.getVirtualItemForOffset(virtual.scrollOffset ?? 0)?.index ?? 0);
      const at = marked?.from ?? top;
      const next = by === 1 ? calls.find(({ row }) => row > at) : calls.findLast(({ row }) => row < at);
      if (next !== undefined) show({ from: next.row, to: next.row });
    },
  };
}

/** Returns the rows between a call's first row and its end, for each folded call. */
function foldsOf(calls: ShownExecutionDetails['calls'], folded: ReadonlySet<number>): Fold[] {
  return calls.flatMap(({ n, row, untilRow }) =>
    folded.has(n) && untilRow !== null ? [{ from: row + 1, to: untilRow + 1 }] : [],
  );
}

function without(folded: ReadonlySet<number>, n: number | undefined): ReadonlySet<number> {
  return new Set([...folded].filter((each) => each !== n));
}
