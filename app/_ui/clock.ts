'use client';

import { createContext, useContext, useSyncExternalStore } from 'react';

/** The time and zone of the server's render; the browser's first render uses the same, so that both match. */
export interface RenderedAt {
  /** Milliseconds since 1970, by the portal's clock. */
  now: number;
  timeZone: string;
}

export const RenderedAtContext = createContext<RenderedAt>({ now: 0, timeZone: 'UTC' });

const tickMs = 1000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let tick = 0;

/** One timer per tab for all ticking times; it stops while there are no listeners or the tab is hidden. */
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

/** The time of the last tick: a time that changes during a render would cause a second one. */
function atTick(): number {
  const now = Date.now();
  if (Math.abs(now - tick) > 1.2 * tickMs) tick = now;
  return tick;
}

/** Text that depends on the time. The component renders again only when its text changes. */
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
/** Cached: browsers take longer to look it up than to render a row of a table. */
const ownZone = (): string => {
  zone ??= Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone;
};

/** The reader's zone; on the server, and until hydration, the one in the cookie. */
export function useTimeZone(): string {
  const { timeZone } = useContext(RenderedAtContext);
  return useSyncExternalStore(never, ownZone, () => timeZone);
}
