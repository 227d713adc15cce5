'use client';

import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { StepState } from '#server/domain/rollout-rules/words.ts';
import { type ShownRollout, type ShownStep, statusOfStep } from '../rollout-data.ts';
import type { StepsFilter } from './steps-address.ts';
import { useCauseWords } from './use-cause-words.ts';

export interface CausesProps {
  rollout: ShownRollout;
  /** Shows the VMs with a cause in the table below. */
  onShow(filter: StepsFilter): void;
}

/** The number of VMs whose causes are counted. */
const counted = 200;

/** What failed together and why: the first thing that a person needs after a halt. */
export function FailuresCard({ rollout, onShow }: CausesProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const { failed } = rollout.counts;
  return (
    <Card aria-labelledby="failures">
      <CardHeader
        id="failures"
        title={t('live.failures')}
        note={failed > counted ? t('live.failures.note', { n: format.number(counted) }) : format.number(failed)}
        actions={
          <TextLink href={`/vms?rollout=${rollout.id}&step=failed`} className="text-12">
            {t('live.failures.all')}
          </TextLink>
        }
      />
      <Causes rollout={rollout} states={['failed', 'stuck']} state="failed" onShow={onShow} />
    </Card>
  );
}

/** Why VMs are parked. */
export function ParkedCard({ rollout, onShow }: CausesProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const { parked } = rollout.counts;
  return (
    <Card aria-labelledby="parked">
      <CardHeader
        id="parked"
        title={t('live.parked')}
        note={parked > counted ? t('live.parked.some', { n: format.number(counted) }) : format.number(parked)}
      />
      <p className="px-4 pb-2 text-12 text-ink-3">{t('live.parked.note')}</p>
      <Causes rollout={rollout} states={['parked']} state="parked" onShow={onShow} />
    </Card>
  );
}

interface CauseListProps extends CausesProps {
  states: StepState[];
  state: 'failed' | 'parked';
}

function Causes({ rollout, states, state, onShow }: CauseListProps) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const format = useFormat();
  const words = useCauseWords();
  const steps = useQuery(trpc.rollouts.steps.queryOptions({ id: rollout.id, state: states, limit: counted }));
  if (steps.error && !steps.data) {
    return (
      <QueryError
        title={t(`live.${state === 'failed' ? 'failures' : 'parked'}.failed`)}
        error={steps.error}
        onRetry={steps.refetch}
      />
    );
  }
  if (steps.isPending) return <SkeletonRows columns={['w-40', 'w-12']} rows={2} label={t('live.steps.loading')} />;
  return (
    <ul>
      {countCauses(steps.data.items).map(({ cause, count, names }) => (
        <li key={cause} className="border-t border-line-subtle">
          <button
            type="button"
            onClick={() => onShow({ state, ...(cause !== '' && { cause }) })}
            className="flex w-full items-start gap-2 px-4 py-2 text-start hover:bg-hover focus-visible:shadow-focus"
          >
            <StatusIcon status={statusOfStep[state]} className="mt-[3px]" />
            <span className="min-w-0 flex-1 wrap-anywhere">
              {words(cause)}
              <span translate="no" className="block truncate text-12 text-ink-3">
                {format.list(names)}
              </span>
            </span>
            <span className="tabular-nums">{format.number(count)}</span>
            <ChevronRight aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3 rtl:-scale-x-100" />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Counts steps by cause, the most frequent cause first. */
function countCauses(steps: readonly ShownStep[]): { cause: string; count: number; names: string[] }[] {
  return [...Map.groupBy(steps, ({ cause }) => cause ?? '')]
    .map(([cause, of]) => ({ cause, count: of.length, names: of.slice(0, 3).map(({ name }) => name) }))
    .toSorted((a, b) => b.count - a.count);
}
