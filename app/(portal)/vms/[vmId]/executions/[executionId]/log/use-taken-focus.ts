'use client';

import { type RefObject, useEffect, useRef } from 'react';

/** Focuses the log when it replaces the level list, if a row of that list had the focus. */
export function useTakenFocus(frame: RefObject<HTMLElement | null>, isHidden: boolean): void {
  const wasHidden = useRef(isHidden);
  useEffect(() => {
    const appears = wasHidden.current && !isHidden;
    wasHidden.current = isHidden;
    if (appears && document.activeElement === document.body) frame.current?.focus({ preventScroll: true });
  }, [frame, isHidden]);
}
