'use client';

import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { countUnits, type ShownService, serviceHref, unitHref } from './service-data.ts';

export interface UnitStripProps {
  model: string;
  service: Pick<ShownService, 'name' | 'units'>;
}

/** Number of units that are shown one by one. Of more units, the strip shows how many have each health. */
const maxChips = 8;

const chip =
  'relative z-1 inline-flex h-[22px] min-w-9 items-center justify-center gap-1 rounded-sm px-1.5 text-12 tabular-nums hover:underline pointer-coarse:h-9';
const quiet = 'text-ink-2 shadow-hair';
const loud = 'bg-st-tint text-st-text shadow-[inset_0_0_0_1px_var(--st-line)] [--cut:var(--st-tint)]';

/** The units of a service by number, colored by health. Each opens the unit; a count opens the units with this health. */
export function UnitStrip({ model, service: { name, units } }: UnitStripProps) {
  const { t } = useTranslation(['services', 'reports']);
  const format = useFormat();
  if (units.length === 0) return <span className="text-ink-3">{t('services:units.none')}</span>;
  if (units.length > maxChips) {
    return (
      <span className="inline-flex flex-wrap gap-1 align-middle">
        {countUnits(units).map(({ health, count }) => (
          <Link
            key={health}
            href={serviceHref(model, name, health)}
            prefetch={false}
            data-st={statusOfHealth[health]}
            title={t(`reports:health.${health}`)}
            className={cn(chip, health === 'healthy' ? quiet : loud)}
          >
            <StatusIcon status={statusOfHealth[health]} className="size-3" />
            {format.number(count)}
            <span className="sr-only">{t(`reports:health.${health}`)}</span>
          </Link>
        ))}
      </span>
    );
  }
  return (
    <span className="inline-flex flex-wrap gap-1 align-middle">
      {units.map(({ unit, number, health }) => (
        <Link
          key={unit}
          href={unitHref(model, unit)}
          prefetch={false}
          data-st={statusOfHealth[health]}
          title={`${unit}: ${t(`reports:health.${health}`)}`}
          aria-label={`${unit}, ${t(`reports:health.${health}`)}`}
          className={cn(chip, health === 'healthy' ? quiet : loud)}
        >
          <StatusIcon status={statusOfHealth[health]} className="size-3" />
          {number}
        </Link>
      ))}
    </span>
  );
}
