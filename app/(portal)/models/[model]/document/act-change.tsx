'use client';

import { ArrowRight } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';

/** A value before and after a change. */
export function Change({ before, after }: { before: string | null; after: string | null }) {
  const { t } = useTranslation('services');
  return (
    <span className="inline-flex min-w-0 flex-wrap items-baseline gap-x-1.5">
      {before === null ? (
        <span className="text-ink-3">{t('document.unset')}</span>
      ) : (
        <del translate="no" className="mono text-failed-text wrap-anywhere">
          {before}
        </del>
      )}
      <ArrowRight aria-hidden className="size-3 self-center text-ink-3 rtl:-scale-x-100" />
      {after === null ? (
        <span className="text-ink-3">{t('document.unset')}</span>
      ) : (
        <ins translate="no" className="mono text-healthy-text no-underline wrap-anywhere">
          {after}
        </ins>
      )}
    </span>
  );
}
