import { type RefObject, useEffect, useRef } from 'react';

/**
 * Moves the focus to the first button of an element if the button that changed its state is gone. Otherwise, keyboard
 * users would start again at the top of the page.
 */
export function useRestoredFocus(state: string): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const shown = useRef(state);
  useEffect(() => {
    if (shown.current === state) return;
    shown.current = state;
    if (document.activeElement === document.body) place.current?.querySelector('button')?.focus();
  }, [state]);
  return place;
}
