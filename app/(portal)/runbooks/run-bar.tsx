'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import type { ShownRuns } from './runbook-data.ts';

/** How many times a runbook ran in the last 30 days and how these runs ended, as a bar with numbers. */
export function RunBar({ runs, className }: { runs: ShownRuns; className?: string }) {
  const { t } = useTranslation('runbooks');
  const format = useFormat();
  const { succeeded, failed, other } = runs;
  const all = succeeded + failed + other;
  if (all === 0) return <span className={cn('text-12 text-ink-3', className)}>{t('runs.none')}</span>;
  const parts = [
    { count: succeeded, fill: 'bg-healthy-map' },
    { count: failed, fill: 'bg-failed-solid' },
    { count: other, fill: 'bg-disabled-map' },
  ].filter(({ count }) => count > 0);
  return (
    <span className={cn('flex min-w-0 items-center gap-2.5', className)}>
      <span aria-hidden className="flex h-1.5 w-24 shrink-0 max-sm:w-16 gap-px overflow-hidden rounded-xs">
        {parts.map(({ count, fill }) => (
          <span key={fill} className={cn('min-w-[3px]', fill)} style={{ flexGrow: count }} />
        ))}
      </span>
      <span className="min-w-0 text-12 text-ink-2 tabular-nums max-sm:whitespace-normal">
        {t('runs.count', { count: all, shown: format.number(all) })}
        {failed > 0 ? `, ${t('runs.failed', { shown: format.number(failed) })}` : null}
      </span>
    </span>
  );
}
