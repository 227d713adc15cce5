'use client';

import { Undo2 } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { type ShownService, unitHref } from '../service-data.ts';
import { type WaveState, waveOf } from './wave.ts';

export interface WaveCardProps {
  model: string;
  service: ShownService;
  /** Undefined for readers who may not change the service. */
  onGoBack: ((version: string) => void) | undefined;
}

const statusOfWave: Readonly<Record<WaveState, StatusName>> = {
  done: 'healthy',
  changing: 'progressing',
  failed: 'failed',
  waiting: 'waiting',
};

/** Number of units that the strip shows one by one. */
const maxUnits = 100;

/** The units of a service while they change to its version or settings. Absent once all have changed. */
export function WaveCard({ model, service, onGoBack }: WaveCardProps) {
  const { t } = useTranslation('services');
  const format = useFormat();
  const wave = waveOf(service);
  if (wave === null) return null;
  const [earlier] = wave.earlier;
  const all = wave.units.length;
  return (
    <Card className="mb-4" aria-labelledby="wave">
      <CardHeader
        id="wave"
        title={
          wave.isUpgrade
            ? t('wave.upgrade', { version: service.version })
            : t('wave.settings', { version: format.number(service.settingsVersion) })
        }
        note={t('wave.done', { count: wave.done, all: format.number(all) })}
        actions={
          onGoBack !== undefined && earlier !== undefined ? (
            <Button size="sm" onClick={() => onGoBack(earlier)}>
              <Undo2 aria-hidden />
              {t('wave.goBack', { version: earlier })}
            </Button>
          ) : undefined
        }
      />
      <ol aria-label={t('wave.units')} className="flex flex-wrap gap-1 px-4 pb-2">
        {wave.units.slice(0, maxUnits).map(({ unit: { unit, number }, state }) => (
          <li key={unit}>
            <Link
              href={unitHref(model, unit)}
              prefetch={false}
              data-st={statusOfWave[state]}
              title={`${unit}: ${t(`wave.state.${state}`)}`}
              aria-label={`${unit}, ${t(`wave.state.${state}`)}`}
              className={cn(
                'inline-flex h-6 min-w-11 items-center justify-center gap-1 rounded-sm px-1.5 text-12 tabular-nums hover:underline pointer-coarse:h-9',
                state === 'done' || state === 'waiting'
                  ? 'text-ink-2 shadow-hair'
                  : 'bg-st-tint text-st-text shadow-[inset_0_0_0_1px_var(--st-line)] [--cut:var(--st-tint)]',
              )}
            >
              <StatusIcon status={statusOfWave[state]} className="size-3" />
              {number}
            </Link>
          </li>
        ))}
        {all > maxUnits ? (
          <li className="self-center text-12 text-ink-3">{t('units.more', { count: all - maxUnits })}</li>
        ) : null}
      </ol>
      <p className="px-4 pb-3 text-12 text-ink-2">
        {t(wave.isStopped ? 'wave.stopped' : service.atOnce === null ? 'wave.all.now' : 'wave.next', {
          count: service.atOnce ?? 0,
        })}
      </p>
    </Card>
  );
}
