'use client';

import { createContext, useCallback, useContext, useSyncExternalStore } from 'react';

/** What the server knew when it rendered; the first render in the browser uses the same, so that both agree. */
export interface RenderedAt {
  /** Milliseconds since 1970, the portal's clock. */
  now: number;
  timeZone: string;
}

export const RenderedAtContext = createContext<RenderedAt>({ now: 0, timeZone: 'UTC' });

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer per tab for every moving time on the page; it rests while nobody listens or the tab is hidden. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (document.visibilityState === 'hidden') return;
    for (const listen of listeners) listen();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Text that depends on now. The component is drawn again only when its text has changed. */
export function useTicking(textAt: (now: number) => string): string {
  const { now } = useContext(RenderedAtContext);
  return useSyncExternalStore(
    subscribe,
    () => textAt(Date.now()),
    () => textAt(now),
  );
}

const never = () => () => {};

/** The reader's zone; on the server, and until the page is live, the one that the cookie named. */
export function useTimeZone(): string {
  const { timeZone } = useContext(RenderedAtContext);
  const own = useCallback(() => Intl.DateTimeFormat().resolvedOptions().timeZone, []);
  return useSyncExternalStore(never, own, () => timeZone);
}
