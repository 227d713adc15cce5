'use client';

import { createContext, useContext, useSyncExternalStore } from 'react';

/** The time, zone and locale of the server's render. The browser's first render uses them too, so that both match. */
export interface RenderedAt {
  /** Milliseconds since 1970, by the portal's clock. */
  now: number;
  timeZone: string;
  /** The locale for dates, such as `en-GB` for pages in English; by default, the language of the page. */
  dateLocale?: string;
}

export const RenderedAtContext = createContext<RenderedAt>({ now: 0, timeZone: 'UTC' });

const tickMs = 1000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let tick = 0;

/**
 * Subscribes to the tab's only timer. The timer skips ticks while the tab is hidden, and stops when there are no
 * listeners.
 */
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

/**
 * Returns the time of the last tick, or the current time if that tick is too old. If it always returned the current
 * time, the result could change during a render, which would cause another render.
 */
function atTick(): number {
  const now = Date.now();
  if (Math.abs(now - tick) > 1.2 * tickMs) tick = now;
  return tick;
}

/** Returns text that depends on the time. The component renders again only when its text changes. */
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
/** Cached, because looking up the time zone takes longer than rendering a table row. */
const ownZone = (): string => {
  zone ??= Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone;
};

/** Returns the reader's time zone; on the server and until hydration, the zone in the cookie. */
export function useTimeZone(): string {
  const { timeZone } = useContext(RenderedAtContext);
  return useSyncExternalStore(never, ownZone, () => timeZone);
}

/** Returns the locale for dates on a page in this language. */
export function useDateLocale(language: string): string {
  return useContext(RenderedAtContext).dateLocale ?? language;
}
