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

/** Called by the router before each navigation (next.config.ts names this file); one to the same page is ignored. */
export function onRouterTransitionStart(url: string): void {
  const { pathname, search } = new URL(url, location.href);
  set(pathname !== location.pathname || search !== location.search);
}

/** The address in the browser is that of the page that is shown. */
export const navigationEnded = (): void => set(false);

/** Whether another page was requested and is not shown yet. */
export function useIsNavigating(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => isUnderWay,
    () => false,
  );
}
