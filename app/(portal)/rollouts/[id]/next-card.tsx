'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon, type StatusName } from '#app/_ui/status-icon.tsx';
import { hasEnded, type ShownRollout } from '../rollout-data.ts';
import { useReason } from '../use-reason.ts';
import { canRevert } from './shown-acts.ts';

/** Number of waiting rings that are listed. */
const shownRings = 3;

interface Line {
  key: string;
  status: StatusName;
  title: string;
  detail?: string;
}

/** What happens next: a person's decision, the rings to come, and when the rollout will probably end. */
export function NextCard({ rollout }: { rollout: ShownRollout }) {
  const { t } = useTranslation('rollouts');
  const lines = useLines(rollout);
  return (
    <Card aria-labelledby="next">
      <CardHeader id="next" title={t('live.next')} />
      {lines.length === 0 ? (
        <p className="px-4 pb-4 text-ink-2">{t(hasEnded(rollout) ? 'live.next.over' : 'live.next.none')}</p>
      ) : null}
      <ol className="grid gap-2.5 px-4 pb-4 empty:hidden">
        {lines.map(({ key, status, title, detail }) => (
          <li key={key} className="flex gap-2">
            <StatusIcon status={status} className="mt-[3px]" />
            <span className="min-w-0 wrap-anywhere">
              <span className="font-medium">{title}</span>
              {detail === undefined ? null : <span className="block text-12 text-ink-2">{detail}</span>}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function useLines(rollout: ShownRollout): Line[] {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const reasonOf = useReason();
  const { state, next: planned, why, rings, forecast, needsPerson } = rollout;
  if (hasEnded(rollout)) return [];
  const next = planned ?? (state === 'keeping' ? (why[0] ?? null) : null);
  const decides = state === 'paused' || needsPerson;
  const moment = (at: string) => format.dateTime(new Date(at), 'short');
  const waiting = rings.flatMap(({ state: of, size, name, bakeSeconds, approval, approvedBy }, index): Line[] => {
    if (of !== 'waiting' || size === 0 || state === 'aborting') return [];
    const bake = format.number(Math.round(bakeSeconds / 60));
    const sizes = t('live.next.ringSize', { count: size, n: format.number(size), bake });
    const detail = approval && approvedBy === null ? `${sizes} ${t('live.next.approval')}` : sizes;
    return [{ key: `ring ${index}`, status: 'waiting', title: t('live.next.ring', { ring: name }), detail }];
  });
  return [
    ...(decides
      ? [
          {
            ...{ key: 'decide', status: 'warning' as const, title: t('live.next.decide') },
            ...(state === 'paused' && {
              detail: t(canRevert(rollout) ? 'live.next.decideHow' : 'live.next.decideOrAbort'),
            }),
          },
        ]
      : []),
    ...(next === null
      ? []
      : [
          {
            ...{ key: 'next', status: 'progressing' as const, title: reasonOf(next, rings) },
            ...(state === 'keeping' &&
              next.at !== undefined && { detail: t('live.next.givesUp', { at: moment(next.at) }) }),
          },
        ]),
    ...waiting.slice(0, waiting.length > shownRings + 1 ? shownRings : undefined),
    ...(waiting.length > shownRings + 1
      ? [
          {
            ...{ key: 'more', status: 'waiting' as const },
            title: t('live.next.more', { count: waiting.length - shownRings }),
          },
        ]
      : []),
    ...(forecast === null || state === 'paused'
      ? []
      : [
          {
            ...{ key: 'end', status: 'unknown' as const, title: t('live.next.end') },
            detail: t('live.next.span', { from: moment(forecast.from), to: moment(forecast.to) }),
          },
        ]),
  ];
}
