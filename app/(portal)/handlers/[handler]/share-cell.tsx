'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Meter } from '#app/_ui/meter.tsx';
import { Num } from '#app/_ui/num.tsx';
import { type Series, seriesFill } from './series.ts';

/** The share of the handler's VMs that have this version, in the color that the chart gives the version. */
export function ShareCell({ version, share, series }: { version: string; share: number; series: Series }) {
  const { t } = useTranslation('packages');
  const format = useFormat();
  return (
    <span className="flex items-center gap-2.5">
      <Meter
        value={share}
        label={t('share.of', { version })}
        text={format.percent(share)}
        fill={seriesFill[series]}
        className="max-w-48 min-w-16"
      />
      <Num value={share} as="percent" className="min-w-12 text-12 text-ink-2" />
    </span>
  );
}
