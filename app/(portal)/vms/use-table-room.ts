'use client';

import { type RefObject, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { type ColumnName, columnsThatFit } from './columns.ts';
import type { CellRoom } from './vm-row.tsx';

export interface TableRoom {
  table: RefObject<HTMLTableElement | null>;
  /** Pixels available for chips and tags. */
  room: CellRoom;
  /** Width of the table in pixels; undefined until measured. */
  width: number | undefined;
  /** The chosen columns that fit. */
  shown: readonly ColumnName[];
}

/** Measures the table and the headers of its columns to determine what fits. */
export function useTableRoom(chosen: readonly ColumnName[], isNarrow: boolean): TableRoom {
  const table = useRef<HTMLTableElement>(null);
  const [width, setWidth] = useState<number>();
  const [room, setRoom] = useState({ extensions: 420, tags: 200 });
  const shown = useMemo(
    () => (isNarrow || width === undefined ? chosen : columnsThatFit(chosen, width)),
    [chosen, isNarrow, width],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of columns changes how they share the width
  useLayoutEffect(() => {
    const element = table.current;
    if (element === null) return;
    const widthOf = (column: ColumnName): number => {
      const head = element.querySelector(`th[data-column="${column}"]`);
      return Math.max(0, (head?.clientWidth ?? 0) - 24);
    };
    const frame = element.parentElement ?? element;
    const measure = () => {
      setWidth(frame.clientWidth);
      // Below 720 px, a row has two lines: the first line ends with the health, the second with the last poll.
      const next = isNarrow
        ? { extensions: frame.clientWidth - 172, tags: 0 }
        : { extensions: widthOf('extensions'), tags: widthOf('tags') };
      setRoom((now) => (now.extensions === next.extensions && now.tags === next.tags ? now : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(frame);
    return () => observer.disconnect();
  }, [shown, isNarrow]);
  return { table, room, width, shown };
}

const narrowWindow = '(max-width: 719.98px)';

export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const query = matchMedia(narrowWindow);
      query.addEventListener('change', listener);
      return () => query.removeEventListener('change', listener);
    },
    () => matchMedia(narrowWindow).matches,
    () => false,
  );
}
