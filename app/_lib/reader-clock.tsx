'use client';

import { type ReactNode, useEffect, useMemo } from 'react';
import { RenderedAtContext } from '../_ui/clock.ts';
import { readChoice, writeChoice } from './cookies.ts';

/** Provides all times on the page with the same initial time and zone, and stores the reader's zone for the server. */
export function ReaderClock({ now, timeZone, children }: { now: number; timeZone: string; children: ReactNode }) {
  useEffect(() => {
    const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (own !== readChoice('timeZone')) writeChoice('timeZone', own);
  }, []);
  const value = useMemo(() => ({ now, timeZone }), [now, timeZone]);
  return <RenderedAtContext value={value}>{children}</RenderedAtContext>;
}
