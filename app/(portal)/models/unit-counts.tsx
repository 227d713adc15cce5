'use client';

import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { mildestFirst, type VmHealth } from '#server/domain/verdicts/words.ts';
import { servicesHref } from './model-data.ts';

export interface UnitCountsProps {
  model: string;
  units: Partial<Record<VmHealth, number>>;
  className?: string;
}

/** How many units of a model have each health. Each number opens the services with these units. */
export function UnitCounts({ model, units, className }: UnitCountsProps) {
  const { t } = useTranslation(['models', 'reports']);
  const format = useFormat();
  const some = mildestFirst.filter((one) => (units[one] ?? 0) > 0);
  if (some.length === 0) return <span className="text-ink-3">{t('models:list.noUnits')}</span>;
  return (
    <span className={cn('inline-flex items-center gap-x-3 gap-y-1 align-middle', className)}>
      {some.map((one) => (
        <Link
          key={one}
          href={servicesHref(model, one)}
          prefetch={false}
          data-st={statusOfHealth[one]}
          title={t(`reports:health.${one}`)}
          className="relative z-1 inline-flex min-h-6 items-center gap-1 text-st-text tabular-nums hover:underline pointer-coarse:min-h-8"
        >
          <StatusIcon status={statusOfHealth[one]} className="size-3.5" />
          {format.number(units[one] ?? 0)}
          <span className="sr-only">{t(`reports:health.${one}`)}</span>
        </Link>
      ))}
    </span>
  );
}
