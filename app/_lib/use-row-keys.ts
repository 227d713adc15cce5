'use client';

import { useRouter } from 'next/navigation';
import { useEffect, useRef, useState } from 'react';
import { useKeys } from './keys.tsx';
import { useSearchedRows } from './searched-rows.ts';

export interface RowKeys {
  /** The pages that the rows open, in the order of the rows. */
  hrefs: readonly string[];
  /** What the keys do, for the list of shortcuts. */
  labels: { next: string; previous: string; open: string };
  /** The search text that the rows match. Undefined without a search, and while the rows belong to an earlier search. */
  search?: string | undefined;
}

/**
 * Walks a list by keyboard: `j` and `k` move the cursor, and Enter opens the row. Returns the address of the row at the
 * cursor, and a ref for the element around the rows. The row at the cursor must have the attribute `data-cursor`.
 */
export function useRowKeys<List extends HTMLElement>({ hrefs, labels, search }: RowKeys) {
  const router = useRouter();
  const [cursor, setCursor] = useState<string | null>(null);
  const list = useRef<List>(null);
  useEffect(() => {
    if (cursor !== null) list.current?.querySelector('[data-cursor]')?.scrollIntoView({ block: 'nearest' });
  }, [cursor]);
  const walk = (step: number) =>
    setCursor((from) => {
      const index = (from === null ? -1 : hrefs.indexOf(from)) + step;
      return hrefs[Math.max(0, Math.min(hrefs.length - 1, index))] ?? null;
    });
  useSearchedRows({
    text: search,
    only: hrefs.length === 1 ? hrefs[0] : undefined,
    enter: () => walk(1),
    open: (href) => router.push(href),
  });
  useKeys([
    { key: 'j', label: labels.next, run: () => walk(1) },
    { key: 'k', label: labels.previous, run: () => walk(-1) },
    {
      key: 'Enter',
      label: labels.open,
      run: (event) => {
        if (cursor === null || !hrefs.includes(cursor)) return;
        if (event.target instanceof Element && event.target.closest('a, button, summary')) return;
        router.push(cursor);
      },
    },
  ]);
  return { cursor, list };
}
