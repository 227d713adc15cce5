'use client';

import { useEffect, useState } from 'react';

const settleMs = 150;

/**
 * Stores a search in the URL (`?q=`). Returns the text, a setter, and the text as of the last pause in typing. Adds no
 * entries to the browser's history, so that Back leaves the list.
 */
export function useSearchInAddress(initial: string): [string, (search: string) => void, string] {
  const [search, setSearch] = useState(initial);
  const [settled, setSettled] = useState(initial);
  useEffect(() => {
    if (search === settled) return;
    const timer = setTimeout(() => {
      setSettled(search);
      const address = new URL(window.location.href);
      if (search === '') address.searchParams.delete('q');
      else address.searchParams.set('q', search);
      window.history.replaceState(window.history.state, '', address);
    }, settleMs);
    return () => clearTimeout(timer);
  }, [search, settled]);
  return [search, setSearch, settled];
}
