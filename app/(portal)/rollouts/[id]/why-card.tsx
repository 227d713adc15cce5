'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardFooter } from '#app/_ui/card.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { hasEnded, type ShownRollout } from '../rollout-data.ts';
import { useReason } from '../use-reason.ts';
import { useSentence } from '../use-sentence.ts';
import { ActButtons } from './act-buttons.tsx';

export interface ReasonCardProps {
  rollout: ShownRollout;
  onShowFailed(): void;
}

/** Why a rollout is in its current state, in one sentence, and what a person can do. */
export function WhyCard({ rollout, onShowFailed }: ReasonCardProps) {
  const { t } = useTranslation('rollouts');
  const sentence = useSentence();
  const reasonOf = useReason();
  const { state, why, rings } = rollout;
  const since = why[0]?.since;
  return (
    <Card className="mb-4" aria-labelledby="why">
      <div className="px-4 pt-3 pb-3.5">
        <h2 id="why" className="text-12 text-ink-3">
          {t(`live.why.${questionOf(rollout)}`)}
        </h2>
        <p className="mt-1 max-w-[100ch] text-16 font-medium tracking-tight text-pretty wrap-anywhere">
          {sentence(rollout)} {state === 'paused' ? t('says.stopped') : null}
        </p>
        {since === undefined ? null : (
          <p className="mt-0.5 text-12 text-ink-3">
            <RelativeTime value={new Date(since)} />
          </p>
        )}
        {why.length < 2 ? null : (
          <ul className="mt-2 grid gap-1 text-ink-2">
            {why.slice(1).map((reason) => (
              <li key={`${reason.code} ${reason.ring}`} className="flex gap-1.5">
                <StatusIcon status={state === 'paused' ? 'failed' : 'waiting'} className="mt-0.5" />
                <span className="min-w-0 wrap-anywhere">{reasonOf(reason, rings)}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
      <CardFooter className="empty:hidden">
        <ActButtons rollout={rollout} onShowFailed={onShowFailed} />
      </CardFooter>
    </Card>
  );
}

function questionOf(rollout: ShownRollout): 'paused' | 'running' | 'waiting' | 'before' | 'ended' {
  const { state, why } = rollout;
  if (state === 'paused') return 'paused';
  if (hasEnded(rollout)) return 'ended';
  if (['draft', 'planned'].includes(state)) return 'before';
  return state === 'scheduled' || state === 'keeping' || why.length > 0 ? 'waiting' : 'running';
}
