import { type KeyboardEvent, useState } from 'react';

export type MapStep = 'up' | 'down' | 'left' | 'right' | 'first' | 'last' | 'previousGroup' | 'nextGroup';

const steps: Readonly<Record<string, MapStep>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Home: 'first',
  End: 'last',
  PageUp: 'previousGroup',
  PageDown: 'nextGroup',
};

/** A map in which keys move the cursor from VM to VM. A place identifies a VM or a cell. */
export interface WalkedMap<Place> {
  /** Null if the map shows no VM. */
  first: Place | null;
  step(from: Place, by: MapStep): Place;
  /** Returns the next or previous VM that is not healthy, starting at either end of the map if `from` is null. */
  nextUnhealthy(from: Place | null, direction: 1 | -1): Place | null;
  /** Called with each place that a key leads to; null after Escape. */
  onWalk?(place: Place | null): void;
  open(): void;
}

export interface MapCursor<Place> {
  /** The place reached by keyboard or by a click. */
  walked: Place | null;
  setWalked(place: Place | null): void;
  hasFocus: boolean;
  /** Returns the event handlers of the element that is the map's only tab stop. */
  handlersOf(map: WalkedMap<Place>): {
    onKeyDown(event: KeyboardEvent): void;
    onFocus(): void;
    onBlur(): void;
  };
}

/**
 * A cursor in a map: arrows, Home, End, Page Up, Page Down and N move it, Escape clears it, and Enter opens its VM.
 */
export function useMapCursor<Place>(): MapCursor<Place> {
  const [walked, setWalked] = useState<Place | null>(null);
  const [hasFocus, setFocus] = useState(false);
  const handlersOf: MapCursor<Place>['handlersOf'] = ({ first, step, nextUnhealthy, onWalk, open }) => ({
    onKeyDown(event) {
      if (first === null || event.altKey || event.ctrlKey || event.metaKey) return;
      const by = steps[event.key];
      let next = walked;
      if (by !== undefined) next = walked === null ? first : step(walked, by);
      else if (event.key === 'n' || event.key === 'N') {
        next = nextUnhealthy(walked, event.key === 'n' ? 1 : -1) ?? walked;
      } else if (event.key === 'Escape' && walked !== null) next = null;
      else if (event.key !== 'Enter') return;
      event.preventDefault();
      event.stopPropagation();
      if (event.key === 'Enter') open();
      else {
        setWalked(next);
        onWalk?.(next);
      }
    },
    onFocus: () => setFocus(true),
    onBlur: () => setFocus(false),
  });
  return { walked, setWalked, hasFocus, handlersOf };
}
