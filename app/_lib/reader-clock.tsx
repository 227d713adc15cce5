'use client';

import { type ReactNode, useEffect, useMemo } from 'react';
import { type RenderedAt, RenderedAtContext } from '../_ui/clock.ts';
import { readChoice, writeChoice } from './cookies.ts';

/** Gives all times on the page the same initial time, zone and locale. Stores the reader's zone for the server. */
export function ReaderClock({ now, timeZone, dateLocale, children }: Required<RenderedAt> & { children: ReactNode }) {
  useEffect(() => {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (own !== readChoice('timeZone')) writeChoice('timeZone', own);
  }, []);
  const value = useMemo(() => ({ now, timeZone, dateLocale }), [now, timeZone, dateLocale]);
  return <RenderedAtContext value={value}>{children}</RenderedAtContext>;
}
