'use client';

import { useSyncExternalStore } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';

type Shown = 'picture' | 'table';

const key = 'annex-services-shown-as';
const listeners = new Set<() => void>();

function subscribe(listen: () => void): () => void {
  listeners.add(listen);
  return () => listeners.delete(listen);
}

/** Returns whether services are shown as a picture or a table, which the browser remembers. */
export function useShownAs(): [Shown, (shown: Shown) => void] {
  const shown = useSyncExternalStore(
    subscribe,
    (): Shown => (localStorage.getItem(key) === 'picture' ? 'picture' : 'table'),
    (): Shown => 'table',
  );
  const choose = (next: Shown) => {
    localStorage.setItem(key, next);
    for (const listen of listeners) listen();
  };
  return [shown, choose];
}

/** Chooses between the picture and the table. */
export function ShownAs({ value, onChange }: { value: Shown; onChange(shown: Shown): void }) {
  const { t } = useTranslation('services');
  return (
    <Segmented<Shown>
      label={t('picture.view')}
      value={value}
      onChange={onChange}
      options={[
        { value: 'picture', label: t('picture.picture') },
        { value: 'table', label: t('picture.table') },
      ]}
    />
  );
}
