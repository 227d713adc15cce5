'use client';

import { type MouseEvent, type PointerEvent, useState } from 'react';
import { nextUnhealthy } from './cells.ts';
import { firstCalmMark } from './looks.ts';
import { type CellPlace, cellAt, step } from './place-cells.ts';
import type { FleetLayout } from './use-fleet-layout.ts';
import { type MapCursor, useMapCursor } from './use-map-cursor.ts';

/** The cells selected by pointer and keyboard. */
export interface CellCursor extends MapCursor<CellPlace> {
  hovered: CellPlace | null;
  setHovered(place: CellPlace | null): void;
  /**
   * The selected cell: the hovered cell or, if none is hovered and the map has the focus, the cell reached by keyboard
   * or by a click.
   */
  place: CellPlace | null;
}

export function useCellCursor(): CellCursor {
  const cursor = useMapCursor<CellPlace>();
  const [hovered, setHovered] = useState<CellPlace | null>(null);
  return { ...cursor, hovered, setHovered, place: hovered ?? (cursor.hasFocus ? cursor.walked : null) };
}

export interface CellHandlersOptions {
  fleet: FleetLayout;
  cursor: CellCursor;
  open(): void;
  cancelOpen(): void;
}

/** Returns event handlers that move the cursor from cell to cell and open the VM under it. */
export function cellHandlers({ fleet, cursor, open, cancelOpen }: CellHandlersOptions) {
  const { layout, measured, cells, isMarks } = fleet;
  const { hovered, setHovered, setWalked } = cursor;
  const handlers = cursor.handlersOf({
    first: layout === null ? null : { group: 0, cell: 0 },
    step: (from, by) => (layout === null ? from : step(layout, from, by)),
    nextUnhealthy: (from, direction) =>
      nextUnhealthy(cells, from ?? { group: 0, cell: -1 }, direction, isMarks ? firstCalmMark : undefined),
    onWalk: () => {
      cancelOpen();
      setHovered(null);
    },
    open,
  });

  function cellUnder({ currentTarget, clientX, clientY }: MouseEvent): CellPlace | null {
    if (layout === null || measured === null) return null;
    const frame = currentTarget.getBoundingClientRect();
    return cellAt(layout, (clientX - frame.left) * measured.ratio, (clientY - frame.top) * measured.ratio);
  }

  return {
    ...handlers,
    onBlur: () => {
      handlers.onBlur();
      cancelOpen();
    },
    onPointerMove: (event: PointerEvent) => {
      if (event.pointerType !== 'mouse') return;
      const found = cellUnder(event);
      if (found?.group !== hovered?.group || found?.cell !== hovered?.cell) setHovered(found);
    },
    onPointerLeave: () => setHovered(null),
    onClick: (event: MouseEvent) => {
      const found = cellUnder(event);
      setWalked(found);
      const isTouch = (event.nativeEvent as globalThis.PointerEvent).pointerType !== 'mouse';
      if (found !== null && !isTouch) open();
    },
  };
}
