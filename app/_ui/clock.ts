'use client';

import { createContext, useContext, useSyncExternalStore } from 'react';

/** What the server knew when it rendered; the first render in the browser uses the same, so that both agree. */
export interface RenderedAt {
  /** Milliseconds since 1970, the portal's clock. */
  now: number;
  timeZone: string;
}

export const RenderedAtContext = createContext<RenderedAt>({ now: 0, timeZone: 'UTC' });

const tickMs = 1000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let tick = 0;

/** One timer per tab for every moving time on the page; it rests while nobody listens or the tab is hidden. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    if (document.visibilityState === 'hidden') return;
    tick = Date.now();
    for (const listen of listeners) listen();
  }, tickMs);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Now, as of the last tick: a time that went on while a page is drawn would have it drawn twice. */
function atTick(): number {
  const now = Date.now();
  if (Math.abs(now - tick) > 1.2 * tickMs) tick = now;
  return tick;
}

/** Text that depends on now. The component is drawn again only when its text has changed. */
export function useTicking<Text extends string>(textAt: (now: number) => Text): Text {
  const { now } = useContext(RenderedAtContext);
  return useSyncExternalStore(
    subscribe,
    () => textAt(atTick()),
    () => textAt(now),
  );
}

const never = () => () => {};

let zone: string | undefined;
/** Asked once: browsers take longer to tell it than to draw a row of a table. */
const ownZone = (): string => {
  zone ??= Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone;
};

/** The reader's zone; on the server, and until the page is live, the one that the cookie named. */
export function useTimeZone(): string {
  const { timeZone } = useContext(RenderedAtContext);
  return useSyncExternalStore(never, ownZone, () => timeZone);
}
