'use client';

import { type KeyboardEvent, type MouseEvent, type PointerEvent, useState } from 'react';
import { nextUnhealthy } from './cells.ts';
import { type CellPlace, type CellStep, cellAt, step } from './place-cells.ts';
import type { FleetLayout } from './use-fleet-layout.ts';

const steps: Readonly<Record<string, CellStep>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'first',
  End: 'last',
  PageUp: 'previousGroup',
  PageDown: 'nextGroup',
};

/** The cells selected by pointer and keyboard. */
export interface CellCursor {
  hovered: CellPlace | null;
  /** The cell reached by keyboard or by a click. */
  walked: CellPlace | null;
  hasFocus: boolean;
  setHovered(place: CellPlace | null): void;
  setWalked(place: CellPlace | null): void;
  setFocus(hasFocus: boolean): void;
}

export function useCellCursor(): CellCursor & { place: CellPlace | null } {
  const [hovered, setHovered] = useState<CellPlace | null>(null);
  const [walked, setWalked] = useState<CellPlace | null>(null);
  const [hasFocus, setFocus] = useState(false);
  return { hovered, walked, hasFocus, setHovered, setWalked, setFocus, place: hovered ?? (hasFocus ? walked : null) };
}

export interface CellHandlersOptions {
  fleet: FleetLayout;
  cursor: CellCursor & { place: CellPlace | null };
  open(): void;
  cancelOpen(): void;
}

/** Returns event handlers that move the cursor from cell to cell and open the VM under it. */
export function useCellHandlers({ fleet, cursor, open, cancelOpen }: CellHandlersOptions) {
  const { layout, measured, cells } = fleet;
  const { hovered, walked, place, setHovered, setWalked, setFocus } = cursor;

  function cellUnder({ currentTarget, clientX, clientY }: MouseEvent): CellPlace | null {
    if (layout === null || measured === null) return null;
    const frame = currentTarget.getBoundingClientRect();
    return cellAt(layout, (clientX - frame.left) * measured.ratio, (clientY - frame.top) * measured.ratio);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (layout === null || event.altKey || event.ctrlKey || event.metaKey) return;
    const from = walked ?? { group: 0, cell: 0 };
    const direction = steps[event.key];
    let next: CellPlace | null = null;
    if (direction !== undefined) next = walked === null ? from : step(layout, from, direction);
    else if (event.key === 'n' || event.key === 'N') next = nextUnhealthy(cells, from, event.key === 'n' ? 1 : -1);
    else if (event.key === 'Escape' && place !== null) setWalked(null);
    else if (event.key !== 'Enter') return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Enter') open();
    else cancelOpen();
    setHovered(null);
    if (next !== null) setWalked(next);
  }

  return {
    onKeyDown,
    onFocus: () => setFocus(true),
    onBlur: () => {
      setFocus(false);
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
