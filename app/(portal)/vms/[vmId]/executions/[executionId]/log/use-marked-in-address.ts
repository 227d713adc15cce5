'use client';

import { useEffect, useRef } from 'react';
import { type MarkedRows, rowsInHash } from './marked-rows.ts';

/** Shows the rows that the URL names, once rows are loaded and whenever the fragment changes. */
export function useMarkedInAddress(isLoaded: boolean, show: (rows: MarkedRows) => void): void {
  const latest = useRef(show);
  useEffect(() => {
    latest.current = show;
  });
  useEffect(() => {
    if (!isLoaded) return;
    const read = () => {
      const rows = rowsInHash(window.location.hash);
      if (rows !== null) latest.current(rows);
    };
    read();
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, [isLoaded]);
}
