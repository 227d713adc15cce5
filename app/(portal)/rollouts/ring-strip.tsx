'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { decidedOf, exemptOf, type ListedRollout } from './rollout-data.ts';

type Ring = ListedRollout['rings'][number];

/** Stripes for VMs whose outcome is not known yet, so that they differ from succeeded VMs without color. */
export const hatch =
  'bg-[repeating-linear-gradient(-60deg,var(--progressing-map)_0_2px,transparent_2px_4px)] rtl:bg-[repeating-linear-gradient(60deg,var(--progressing-map)_0_2px,transparent_2px_4px)]';
export const grayHatch =
  'bg-[repeating-linear-gradient(-60deg,var(--disabled-solid)_0_1px,transparent_1px_4px)] rtl:bg-[repeating-linear-gradient(60deg,var(--disabled-solid)_0_1px,transparent_1px_4px)]';

/** The rings of a rollout as segments, filled by share. Failed VMs are red at the foot. */
export function RingStrip({ rings, className }: { rings: ListedRollout['rings']; className?: string }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  return (
    <ul className={cn('flex gap-0.5', className)}>
      {rings.map((ring) => {
        const words = t('list.ring', {
          ring: ring.name,
          state: t(`ringState.${ring.state}`),
          done: format.number(decidedOf(ring.counts)),
          size: format.number(ring.size),
          failed: format.number(ring.counts.failed),
        });
        return (
          <li
            key={ring.name}
            title={words}
            className="relative flex h-3 min-w-1 flex-1 overflow-hidden rounded-xs bg-sunken shadow-hair"
          >
            <span className="sr-only">{words}</span>
            <Fill ring={ring} />
          </li>
        );
      })}
    </ul>
  );
}

function Fill({ ring: { size, counts } }: { ring: Ring }) {
  if (size === 0) return null;
  const width = (n: number) => ({ width: `${(n / size) * 100}%` });
  const failed = counts.failed + counts.reverted;
  return (
    <>
      <span aria-hidden className="relative h-full bg-healthy-map" style={width(counts.succeeded + failed)}>
        {failed > 0 ? (
          <span
            aria-hidden
            className="absolute start-0 bottom-0 h-1/2 min-w-1 bg-failed-map"
            style={{ width: `${(failed / (counts.succeeded + failed)) * 100}%` }}
          />
        ) : null}
      </span>
      <span aria-hidden className={cn('h-full', hatch)} style={width(counts.soaking + counts.inFlight)} />
      <span aria-hidden className={cn('ms-auto h-full', grayHatch)} style={width(exemptOf(counts))} />
    </>
  );
}
