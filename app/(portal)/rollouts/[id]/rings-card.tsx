'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Status } from '#app/_ui/status.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { DateTime } from '#app/_ui/time.tsx';
import { grayHatch, hatch } from '../ring-strip.tsx';
import { exemptOf, type ShownRing, type ShownRollout, statusOfRing, statusOfStep } from '../rollout-data.ts';
import { GateList } from './gate-list.tsx';

/** The rings of a rollout as lanes, with the gates of those that are not waiting. */
export function RingsCard({ rollout: { rings, plan } }: { rollout: ShownRollout }) {
  const { t } = useTranslation('rollouts');
  return (
    <Card aria-labelledby="rings">
      <CardHeader id="rings" title={t('live.rings')} note={rings.length > 1 ? t('live.rings.note') : undefined} />
      <ol>
        {rings.map((ring, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: rings have no id, and their names can repeat
            key={index}
            className="grid grid-cols-[8.5rem_minmax(0,1fr)] gap-x-4 gap-y-1.5 border-t border-line-subtle px-4 py-3 max-sm:grid-cols-[minmax(0,1fr)]"
          >
            <RingHead ring={ring} isPlanned={plan !== null} />
            {plan === null ? (
              <p className="text-12 text-ink-3">{t('new.ring.unknown')}</p>
            ) : (
              <div className="min-w-0">
                <Lane ring={ring} />
                <LaneCounts ring={ring} />
                {ring.state === 'waiting' ? null : <GateList ring={ring} />}
              </div>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function RingHead({ ring, isPlanned }: { ring: ShownRing; isPlanned: boolean }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const { name, size, state, approval, approvedBy } = ring;
  const at = state === 'passed' ? ring.passedAt : state === 'baking' ? ring.metAt : ring.openedAt;
  return (
    <div className="min-w-0 text-12 text-ink-3 max-sm:flex max-sm:flex-wrap max-sm:items-baseline max-sm:gap-x-2.5">
      <h3 translate="no" className="text-13 font-semibold text-ink wrap-anywhere">
        {name}
      </h3>
      {isPlanned ? (
        <>
          <p className="tabular-nums">{t('live.ring.size', { count: size, n: format.number(size) })}</p>
          <p className="flex flex-wrap items-center gap-x-1.5">
            <Status status={statusOfRing[state]}>{t(`ringState.${state}`)}</Status>
            {at === null || state === 'waiting' ? null : <DateTime value={new Date(at)} />}
          </p>
        </>
      ) : null}
      {approval ? (
        <p className="wrap-anywhere">
          {approvedBy === null ? t('live.ring.approval') : t('live.ring.approvedBy', { by: approvedBy })}
        </p>
      ) : null}
    </div>
  );
}

/** A ring that fills from the start of the line: succeeded, failed at the foot, soaking and in flight hatched. */
function Lane({ ring: { size, counts } }: { ring: ShownRing }) {
  const width = (n: number) => ({ width: `${(n / Math.max(1, size)) * 100}%` });
  const failed = counts.failed + counts.reverted;
  return (
    <div aria-hidden className="relative flex h-5 overflow-hidden rounded-sm bg-sunken shadow-hair">
      <span className="relative h-full bg-healthy-map" style={width(failed)}>
        {failed > 0 ? <span className="absolute inset-x-0 bottom-0 h-1/2 min-w-1 bg-failed-map" /> : null}
      </span>
      <span className="h-full bg-healthy-map" style={width(counts.succeeded)} />
      <span className={cn('h-full', hatch)} style={width(counts.soaking)} />
      <span className="h-full bg-progressing-map" style={width(counts.inFlight)} />
      <span className={cn('ms-auto h-full', grayHatch)} style={width(exemptOf(counts))} />
    </div>
  );
}

function LaneCounts({ ring: { size, counts } }: { ring: ShownRing }) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  if (size === 0) return <p className="mt-1 text-12 text-ink-3">{t('live.ring.empty')}</p>;
  const names = ['succeeded', 'failed', 'reverted', 'soaking', 'inFlight', 'queued'] as const;
  const exempt = exemptOf(counts);
  return (
    <ul className="mt-1.5 flex flex-wrap gap-x-3.5 gap-y-0.5 text-12 text-ink-2 tabular-nums">
      {names
        .filter((name) => counts[name] > 0)
        .map((name) => (
          <li key={name} className="inline-flex items-center gap-1.5">
            <StatusIcon status={statusOfStep[name]} className="size-3" />
            <b className="font-medium text-ink">{format.number(counts[name])}</b> {t(`step.${name}`)}
          </li>
        ))}
      {exempt === 0 ? null : (
        <li className="inline-flex items-center gap-1.5">
          <StatusIcon status="disabled" className="size-3" />
          <b className="font-medium text-ink">{format.number(exempt)}</b> {t('live.ring.notCounted')}
        </li>
      )}
    </ul>
  );
}
