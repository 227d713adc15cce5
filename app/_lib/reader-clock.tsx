'use client';

import { type ReactNode, useEffect, useMemo } from 'react';
import { type RenderedAt, RenderedAtContext } from '../_ui/clock.ts';
import { readChoice, writeChoice } from './cookies.ts';

/** Provides the time, zone and locale that the server rendered with. Stores the browser's zone for the server. */
export function ReaderClock({ now, timeZone, dateLocale, children }: Required<RenderedAt> & { children: ReactNode }) {
  useEffect(() => {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (own !== readChoice('timeZone')) writeChoice('timeZone', own);
  }, []);
  const value = useMemo(() => ({ now, timeZone, dateLocale }), [now, timeZone, dateLocale]);
  return <RenderedAtContext value={value}>{children}</RenderedAtContext>;
}
