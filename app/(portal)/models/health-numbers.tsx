'use client';

import Link from 'next/link';
import { statusOfHealth } from '#app/_lib/health.ts';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { mildestFirst, type VmHealth } from '#server/domain/verdicts/words.ts';
import { type PlaceFilter, placeHref, servicesHref } from './model-data.ts';

interface HealthNumbersProps {
  health: Partial<Record<VmHealth, number>>;
  className?: string | undefined;
  /** Whether the numbers count VMs, which the linked list shows. */
  countsVms: boolean;
  hrefOf(health: VmHealth): string;
}

function HealthNumbers({ health, className, countsVms, hrefOf }: HealthNumbersProps) {
  const { t } = useTranslation('reports');
  const format = useFormat();
  const counts = mildestFirst.flatMap((one) => (health[one] ? [{ one, count: health[one] }] : []));
  if (counts.length === 0) return null;
  return (
    <span className={cn('inline-flex items-center gap-x-3 gap-y-1 align-middle', className)}>
      {counts.map(({ one, count }) => (
        <Link
          key={one}
          href={hrefOf(one)}
          prefetch={false}
          data-st={statusOfHealth[one]}
          data-count={countsVms ? count : undefined}
          title={t(`health.${one}`)}
          className="relative z-1 -my-0.5 inline-flex min-h-6 items-center gap-1 text-st-text tabular-nums hover:underline pointer-coarse:min-h-8"
        >
          <StatusIcon status={statusOfHealth[one]} className="size-3.5" />
          {format.number(count)}
          <span className="sr-only">{t(`health.${one}`)}</span>
        </Link>
      ))}
    </span>
  );
}

export interface MachineHealthNumbersProps extends Pick<HealthNumbersProps, 'health' | 'className'> {
  of: PlaceFilter;
}

/** How many machines have each health. Each number opens the list of these machines. */
export function MachineHealthNumbers({ of, ...numbers }: MachineHealthNumbersProps) {
  return <HealthNumbers {...numbers} countsVms hrefOf={(health) => placeHref(of, { health: [health] })} />;
}

export interface UnitHealthNumbersProps extends Pick<HealthNumbersProps, 'health' | 'className'> {
  model: string;
}

/** How many units of a model have each health. Each number opens the services with these units. */
export function UnitHealthNumbers({ model, ...numbers }: UnitHealthNumbersProps) {
  const { t } = useTranslation('models');
  if (Object.values(numbers.health).every((count) => count === 0)) {
    return <span className="text-ink-3">{t('list.noUnits')}</span>;
  }
  return <HealthNumbers {...numbers} countsVms={false} hrefOf={(health) => servicesHref(model, health)} />;
}
