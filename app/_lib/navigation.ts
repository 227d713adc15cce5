import { useSyncExternalStore } from 'react';

/** Whether the router is loading another page. */
let isUnderWay = false;
const listeners = new Set<() => void>();

function set(next: boolean): void {
  isUnderWay = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Called by the router before each navigation, as set in next.config.ts. Navigation to the same page is ignored. */
export function onRouterTransitionStart(url: string): void {
  const { pathname, search } = new URL(url, location.href);
  set(pathname !== location.pathname || search !== location.search);
}

/** Called once the page for the browser's current URL is shown. */
export const navigationEnded = (): void => set(false);

/** Returns whether another page was requested and is not shown yet. */
export function useIsNavigating(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => isUnderWay,
    () => false,
  );
}
