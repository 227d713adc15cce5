import { useSyncExternalStore } from 'react';

/**
 * The search text of the palette. It is kept outside of the palette because readers type before the palette is loaded,
 * and in a store because with React state, a later key could overtake an earlier one.
 */
let typed = '';
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Replaces the search text of the palette. Browser only. */
export function setTyped(next: string): void {
  typed = next;
  for (const listen of listeners) listen();
}

/** Returns the search text of the palette, including what was typed before the palette opened. */
export const useTyped = (): string =>
  useSyncExternalStore(
    subscribe,
    () => typed,
    () => '',
  );

/**
 * Collects the keys until the palette has the focus, so that no key is lost or acts on the page. Escape calls
 * `onEscape`. Returns a function that stops collecting and clears the text.
 */
export function collectTypedAhead(onEscape: () => void): () => void {
  const collect = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.activeElement?.closest('[role="dialog"]')) return;
    if (event.key === 'Escape') onEscape();
    else if (event.key === 'Backspace') setTyped(typed.slice(0, -1));
    else if (event.key.length === 1) setTyped(typed + event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  document.addEventListener('keydown', collect, { capture: true });
  return () => {
    document.removeEventListener('keydown', collect, { capture: true });
    setTyped('');
  };
}
