'use client';

import { Download } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { type ActivityQuery, addressOfFilter } from './activity-address.ts';

/** Links that download all matching entries, not only those on the page. */
export function ExportLinks({ filter }: { filter: ActivityQuery }) {
  const { t } = useTranslation('activity');
  const query = addressOfFilter(filter);
  return (
    <>
      {(['csv', 'jsonl'] as const).map((form) => (
        <Button key={form} asChild>
          <a href={`/download/activity.${form}${query === '' ? '' : `?${query}`}`} download>
            <Download aria-hidden />
            {t(`export.${form}`)}
          </a>
        </Button>
      ))}
    </>
  );
}
