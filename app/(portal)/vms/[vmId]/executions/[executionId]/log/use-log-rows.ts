'use client';

import { useVirtualizer, type VirtualItem, type Virtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
} from 'react';
import type { ShownCall } from '#app/(portal)/executions/execution-data.ts';
import { type UnfoldedRows, visibleRows } from './folds.ts';
import type { LogCalls } from './log-calls.ts';
import { hashOfRows, type MarkedRows } from './marked-rows.ts';
import { rowHeight } from './row-height.ts';
import { foldsInSection, sectionOf } from './sections.ts';
import { rowsOfFolds, useFolds } from './use-folds.ts';
import { useFollow, useStayAtEnd } from './use-follow.ts';
import { type FirstWindow, useLog, windowOf } from './use-log.ts';
import { useMarkedInAddress } from './use-marked-in-address.ts';

export interface LogRowsInput {
  source: LogCalls;
  /** The calls of an execution’s Body. */
  calls: readonly ShownCall[];
  first: FirstWindow | undefined;
  isLive: boolean;
  /** Whether the level list is shown instead. */
  isHidden: boolean;
}

/** The rows of a log in a scrolling frame: which are loaded, visible, folded or marked, and how to move among them. */
export function useLogRows(frame: RefObject<HTMLElement | null>, input: LogRowsInput) {
  const { source, calls, first: start, isLive, isHidden } = input;
  const [chosen, setChosen] = useState(0);
  const [windows, setWindows] = useState<readonly number[]>([0]);
  const [target, setTarget] = useState<{ row: number; align: 'center' | 'auto' } | null>(null);
  const log = useLog(source, windows, start);
  const { total } = log;
  const follow = useFollow(frame, isLive);
  const { folded, toggle, unfold } = useFolds(calls, follow.follows);
  const section = follow.follows
    ? sectionOf(Math.max(0, total - 1))
    : Math.min(chosen, sectionOf(Math.max(0, total - 1)));
  const rows = useMemo(
    () => visibleRows(total, foldsInSection(section, total, rowsOfFolds(calls, folded))),
    [section, total, calls, folded],
  );
  useStayAtEnd(frame, follow.follows && !isHidden, rows.count);
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
  const needed = neededWindows(rows, items);
  useEffect(() => setWindows((current) => (String(current) === String(needed) ? current : needed)));
  const stop = () => {
    setChosen(section);
    follow.stop(total);
  };
  const marks = useMarks(stop);
  const show = (range: MarkedRows, isSelection = false) => {
    const hiding = calls.find((call) => folded.has(call.n) && hides(call, range.from));
    if (hiding !== undefined) unfold(hiding);
    follow.stop(total);
    setChosen(sectionOf(range.from));
    marks.set(range, isSelection);
    setTarget({ row: range.from, align: 'center' });
  };
  // Waits for the render that opens the section and the call of the row.
  // biome-ignore lint/correctness/useExhaustiveDependencies: later changes of the rows must not scroll again
  useLayoutEffect(() => {
    if (target !== null) scrollTo(frame.current, virtual, rows.positionOf(target.row), target.align);
  }, [target]);
  useMarkedInAddress(log.isLoaded, (range) => show(range, true));
  const topRow = () => rows.rowAt(virtual.getVirtualItemForOffset(virtual.scrollOffset ?? 0)?.index ?? 0);
  return {
    ...{ log, rows, follow, virtual, items, folded, show, marks, section },
    /** Folds or unfolds a call, and stops following, so that the rows of the call stay visible. */
    toggle(call: ShownCall) {
      stop();
      toggle(call);
    },
    topRow,
    placeOf: (range: MarkedRows) => placeOfRows(virtual, rows, range),
    showSection(next: number) {
      follow.stop(total);
      setChosen(next);
      virtual.scrollToOffset(0);
    },
    /** Moves to the next or the previous call. */
    step(by: 1 | -1) {
      const at = marks.marked?.from ?? topRow();
      const next = by === 1 ? calls.find(({ row }) => row > at) : calls.findLast(({ row }) => row < at);
      if (next !== undefined) show({ from: next.row, to: next.row });
    },
    /** Selects rows with Shift and the arrow keys. */
    press(event: KeyboardEvent<HTMLElement>) {
      const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (by === 0 || !event.shiftKey) return;
      event.preventDefault();
      setTarget({ row: marks.extend(by, topRow(), total), align: 'auto' });
    },
  };
}

/** Scrolls the log to a row, and the page to the log, which can be outside the window if a link names the row. */
function scrollTo(
  log: HTMLElement | null,
  virtual: Virtualizer<HTMLElement, Element>,
  position: number,
  align: 'center' | 'auto',
): void {
  virtual.scrollToIndex(position, { align });
  log?.scrollIntoView({ block: 'nearest' });
}

/** Returns where rows begin and end in the list, and the height of the list, in pixels. */
function placeOfRows(virtual: Virtualizer<HTMLElement, Element>, rows: UnfoldedRows, { from, to }: MarkedRows) {
  const measured = (row: number) => virtual.measurementsCache[rows.positionOf(row)];
  return { top: measured(from)?.start ?? 0, bottom: measured(to)?.end ?? 0, total: virtual.getTotalSize() };
}

/** Number of rows to load ahead on each side of the rows in the document. */
const rowsAhead = 100;

/** Returns the windows to load. Windows that contain only rows of folded calls are not needed. */
function neededWindows(rows: UnfoldedRows, items: readonly VirtualItem[]): number[] {
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  const ends = [Math.max(0, first - rowsAhead), Math.max(0, Math.min(rows.count - 1, last + rowsAhead))] as const;
  const positions = [ends[0], ...items.map(({ index }) => index), ends[1]];
  return [...new Set(positions.map((position) => windowOf(rows.rowAt(position))))];
}

const hides = ({ row, untilRow }: ShownCall, at: number): boolean => at > row && at <= (untilRow ?? row);

/** The marked rows. The URL contains the rows that the reader selected. */
function useMarks(onSelect: () => void) {
  const [marked, setMarked] = useState<(MarkedRows & { anchor: number; end: number; isSelection: boolean }) | null>(
    null,
  );
  const select = (anchor: number, row: number) => {
    const range = { from: Math.min(anchor, row), to: Math.max(anchor, row) };
    setMarked({ ...range, anchor, end: row, isSelection: true });
    onSelect();
    window.history.replaceState(window.history.state, '', hashOfRows(range));
  };
  return {
    marked,
    set: (range: MarkedRows, isSelection: boolean) =>
      setMarked({ ...range, anchor: range.from, end: range.to, isSelection }),
    clear() {
      setMarked(null);
      const { pathname, search } = window.location;
      window.history.replaceState(window.history.state, '', pathname + search);
    },
    /** Selects a row. With Shift, extends the selection to that row. */
    click(event: MouseEvent<HTMLAnchorElement>, row: number) {
      event.preventDefault();
      select(event.shiftKey && marked !== null ? marked.anchor : row, row);
    },
    /** Moves the end of the selection by one row, or selects `topRow` if no row is marked. Returns the new end. */
    extend(by: 1 | -1, topRow: number, total: number): number {
      const row = marked === null ? topRow : Math.min(total - 1, Math.max(0, marked.end + by));
      select(marked?.anchor ?? row, row);
      return row;
    },
  };
}
