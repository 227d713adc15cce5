'use client';

import { FileWarning } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import type { Extension } from './vm-data.ts';

export interface RefusedFileProps {
  kind: 'status' | 'heartbeat';
  refused: NonNullable<Extension['refusedStatus']>;
}

/** The faults in a handler's rejected file, each with its path in the file. */
export function RefusedFile({ kind, refused: { faults, readAt } }: RefusedFileProps) {
  const { t } = useTranslation('reports');
  return (
    <div data-st="warning" className="rounded-sm bg-st-tint px-2.5 py-2 text-12">
      <p className="flex flex-wrap items-baseline gap-x-2 font-medium text-st-text">
        <FileWarning aria-hidden className="size-3.5 self-center" />
        {t(`refused.${kind}`)}
        <DateTime value={new Date(readAt)} style="time" className="font-normal text-ink-2 tabular-nums" />
      </p>
      <ul className="mt-1 grid gap-0.5">
        {faults.map(({ path, message }) => (
          <li key={`${path} ${message}`} className="wrap-anywhere">
            <span translate="no" className="mono-11 text-ink-2">
              {path === '' ? '/' : path}
            </span>{' '}
            {message}
          </li>
        ))}
      </ul>
      <p className="mt-1 text-ink-2">{t('refused.next')}</p>
    </div>
  );
}
