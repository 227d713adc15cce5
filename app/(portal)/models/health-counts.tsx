'use client';

import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { mildestFirst, type VmHealth } from '#server/domain/verdicts/words.ts';
import { type PlaceFilter, placeHref } from './model-data.ts';

export interface HealthCountsProps {
  of: PlaceFilter;
  health: Partial<Record<VmHealth, number>>;
  className?: string;
}

/** How many machines have each health. Each number opens the list of these machines. */
export function HealthCounts({ of, health, className }: HealthCountsProps) {
  const { t } = useTranslation('reports');
  const format = useFormat();
  const some = mildestFirst.filter((one) => (health[one] ?? 0) > 0);
  if (some.length === 0) return null;
  return (
    <span className={cn('inline-flex items-center gap-x-3 gap-y-1 align-middle', className)}>
      {some.map((one) => {
        const word = t(`health.${one}`);
        return (
          <Link
            key={one}
            href={placeHref(of, { health: [one] })}
            prefetch={false}
            data-st={statusOfHealth[one]}
            data-count={health[one]}
            title={word}
            className="relative z-1 inline-flex items-center gap-1 text-st-text tabular-nums hover:underline pointer-coarse:min-h-8"
          >
            <StatusIcon status={statusOfHealth[one]} className="size-3.5" />
            {format.number(health[one] ?? 0)}
            <span className="sr-only">{word}</span>
          </Link>
        );
      })}
    </span>
  );
}
