'use client';

import { useRouter } from 'next/navigation';
import { useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useKeys } from '#app/_lib/keys.tsx';
import { useSearchedRows } from '#app/_lib/searched-rows.ts';
import type { FleetReading } from './reading.ts';

/**
 * Returns the index of the row selected by keyboard, or -1. `j` and `k` move the selection, ↓ from the search field starts
 * it, and Enter opens the VM. `isStale` is whether the rows belong to an earlier query.
 */
export function useRowCursor(
  reading: FleetReading,
  idAt: (index: number) => string | undefined,
  show: (index: number) => void,
  isStale: boolean,
): number {
  const { t } = useTranslation('vms');
  const router = useRouter();
  const [place, setPlace] = useState({ reading, index: -1 });
  // The next key may be pressed before React has rendered the result of the previous key.
  const latest = useRef(place);
  // A new list starts without a selected row.
  const indexIn = (at: typeof place): number => (at.reading === reading ? at.index : -1);
  const walk = (step: number) => {
    const index = Math.max(0, Math.min(reading.total - 1, indexIn(latest.current) + step));
    latest.current = { reading, index };
    setPlace(latest.current);
    show(index);
  };
  const open = (id: string) => router.push(`/vms/${id}`);
  const first = isStale ? undefined : idAt(0);
  useSearchedRows({
    text: first === undefined ? undefined : (reading.query.filter.q ?? ''),
    only: reading.total === 1 ? first : undefined,
    enter: () => walk(1),
    open,
  });
  const arrow = (key: string, step: number, label: string) => ({
    key,
    label,
    run(event: KeyboardEvent) {
      // Without a selection, the arrow keys scroll the page.
      if (indexIn(latest.current) < 0) return;
      event.preventDefault();
      walk(step);
    },
  });
  useKeys([
    arrow('ArrowDown', 1, t('keys.next')),
    arrow('ArrowUp', -1, t('keys.previous')),
    { key: 'j', label: t('keys.next'), run: () => walk(1) },
    { key: 'k', label: t('keys.previous'), run: () => walk(-1) },
    {
      key: 'Enter',
      label: t('keys.open'),
      run: (event) => {
        const id = idAt(indexIn(latest.current));
        if (id === undefined || (event.target instanceof Element && event.target.closest('a, button'))) return;
        open(id);
      },
    },
  ]);
  return indexIn(place);
}
