'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useKeys } from '#app/_lib/keys.tsx';
import type { FleetReading } from './reading.ts';

/** Returns the index of the row selected by keyboard, or -1. `j` and `k` move the selection, and Enter opens the VM. */
export function useRowCursor(
  reading: FleetReading,
  idAt: (index: number) => string | undefined,
  show: (index: number) => void,
): number {
  const { t } = useTranslation('vms');
  const router = useRouter();
  const [place, setPlace] = useState({ reading, index: -1 });
  // A new list starts without a selected row.
  const cursor = place.reading === reading ? place.index : -1;
  const walk = (step: number) => {
    const index = Math.max(0, Math.min(reading.total - 1, cursor + step));
    setPlace({ reading, index });
    show(index);
  };
  useKeys([
    { key: 'j', label: t('keys.next'), run: () => walk(1) },
    { key: 'k', label: t('keys.previous'), run: () => walk(-1) },
    {
      key: 'Enter',
      label: t('keys.open'),
      run: (event) => {
        const id = idAt(cursor);
        if (id === undefined || (event.target instanceof Element && event.target.closest('a, button'))) return;
        router.push(`/vms/${id}`);
      },
    },
  ]);
  return cursor;
}
