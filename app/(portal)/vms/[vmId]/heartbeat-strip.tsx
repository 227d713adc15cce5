'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { durationWords } from '#app/_ui/time.tsx';
import { drawnVerdict } from './time/axis-events.ts';
import { readingsOf, shownReadings } from './time/pulse.ts';
import { spans } from './time/span.ts';
import { useTimeline } from './time/use-timeline.ts';
import type { Extension } from './vm-data.ts';

const heights = { healthy: 'h-full', warning: 'h-full', unknown: 'h-1/2', unresponsive: 'h-1/5' } as const;

/** The last recorded heartbeats of an extension; the newest heartbeat pulses if it is healthy. */
export function HeartbeatStrip({ vmId, name, heartbeat }: { vmId: string } & Pick<Extension, 'name' | 'heartbeat'>) {
  const { t } = useTranslation('reports');
  const { t: common } = useTranslation('common');
  const { data } = useTimeline(vmId, '30m');
  const { verdict, readAt, nextReadingAt } = heartbeat;
  if (verdict === 'none' || readAt === null || nextReadingAt === null) return null;
  const last = Date.parse(readAt);
  const periodMs = Math.max(1_000, Date.parse(nextReadingAt) - last);
  const count = Math.max(1, Math.min(shownReadings, Math.floor(spans['30m'].past / periodMs)));
  const recorded = readingsOf(
    data?.lanes.find(({ extension }) => extension === name)?.heartbeat ?? [],
    last,
    periodMs,
    count,
  );
  const readings = recorded.with(-1, drawnVerdict(verdict));
  const known = readings.filter((reading) => reading !== null);
  const bad = known.filter((reading) => reading !== 'healthy').length;
  const label = t('heartbeat.strip', {
    count: known.length,
    length: durationWords(common, known.length * periodMs),
    bad,
  });
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      dir="ltr"
      className="flex h-4 max-w-[208px] min-w-16 flex-1 items-end justify-end gap-0.5"
    >
      {readings.map((reading, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: a reading is identified by its distance from the newest
          key={index}
          data-st={reading ?? undefined}
          className={cn(
            'max-w-[5px] flex-1 rounded-[1px]',
            reading === null ? 'h-0.5 bg-line' : heights[reading],
            reading !== null && (reading === 'healthy' && index < count - 1 ? 'bg-healthy-map' : 'bg-st-solid'),
            index === count - 1 && reading === 'healthy' && 'motion-safe:animate-breathe',
          )}
        />
      ))}
    </span>
  );
}
