import { useSyncExternalStore } from 'react';
import { writeChoice } from '../_lib/cookies.ts';
import type { Theme } from './theme.ts';

let chosen: Theme | null = null;
const listeners = new Set<() => void>();

function listen(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Applies the theme immediately and stores it in a cookie. Browser only. */
export function setTheme(theme: Theme): void {
  writeChoice('theme', theme);
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  chosen = theme;
  for (const listener of listeners) listener();
}

/**
 * Returns the theme that was last chosen in any component or, if none was chosen, `first`: the theme of the rendered
 * page.
 */
export function useTheme(first: Theme): Theme {
  return useSyncExternalStore(
    listen,
    () => chosen ?? first,
    () => first,
  );
}
