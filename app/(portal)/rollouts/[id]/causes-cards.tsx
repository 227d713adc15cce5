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
import { canonicalLanguage } from '#protocol/language.ts';
import { type ShownCause, type ShownRollout, statusOfStep } from '../rollout-data.ts';
import type { StepsFilter } from './steps-address.ts';
import { useCauseWords } from './use-cause-words.ts';

export interface CausesProps {
  rollout: ShownRollout;
  /** Shows the VMs with a cause in the table below. */
  onShow(filter: StepsFilter): void;
}

/** What failed together and why: the first thing that a person needs after a halt. */
export function FailuresCard({ rollout, onShow }: CausesProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  const { failed, reverted } = rollout.counts;
  const states = [...(failed > 0 ? ['failed'] : []), ...(reverted > 0 ? ['reverted'] : [])];
  return (
    <Card aria-labelledby="failures">
      <CardHeader
        id="failures"
        title={t('live.failures')}
        note={format.number(failed + reverted)}
        actions={
          <TextLink href={`/vms?rollout=${rollout.id}&step=${states.join(',')}`} className="text-12">
            {t('live.failures.all')}
          </TextLink>
        }
      />
      <Causes rollout={rollout} of="failed" onShow={onShow} />
    </Card>
  );
}

/** Why VMs are parked. */
export function ParkedCard({ rollout, onShow }: CausesProps) {
  const { t } = useTranslation('rollouts');
  const format = useFormat();
  return (
    <Card aria-labelledby="parked">
      <CardHeader id="parked" title={t('live.parked')} note={format.number(rollout.counts.parked)} />
      <p className="px-4 pb-2 text-12 text-ink-3">{t('live.parked.note')}</p>
      <Causes rollout={rollout} of="parked" onShow={onShow} />
    </Card>
  );
}

function Causes({ rollout, of, onShow }: CausesProps & { of: 'failed' | 'parked' }) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const causes = useQuery(trpc.rollouts.causes.queryOptions({ id: rollout.id, of }));
  if (causes.error && !causes.data) {
    return (
      <QueryError
        title={t(`live.${of === 'failed' ? 'failures' : 'parked'}.failed`)}
        error={causes.error}
        onRetry={causes.refetch}
      />
    );
  }
  if (causes.isPending) return <SkeletonRows columns={['w-40', 'w-12']} rows={2} label={t('live.steps.loading')} />;
  return (
    <ul>
      {causes.data.items.map((cause) => (
        <li key={cause.key} className="border-t border-line-subtle">
          <CauseButton
            cause={cause}
            of={of}
            isRun={rollout.change.kind === 'run'}
            onShow={() => onShow({ group: cause.key })}
          />
        </li>
      ))}
    </ul>
  );
}

interface CauseButtonProps {
  cause: ShownCause;
  of: 'failed' | 'parked';
  isRun: boolean;
  onShow(): void;
}

/** A cause with its message and first VMs. It opens exactly its VMs. */
function CauseButton({ cause: group, of, isRun, onShow }: CauseButtonProps) {
  const format = useFormat();
  const words = useCauseWords(isRun);
  const { cause, handler, extension, message, vms, examples } = group;
  return (
    <button
      type="button"
      onClick={onShow}
      className="flex w-full items-start gap-2.5 px-4 py-2 text-start hover:bg-hover focus-visible:shadow-focus"
    >
      <StatusIcon status={statusOfStep[of]} className="mt-[3px]" />
      <span className="min-w-0 flex-1 wrap-anywhere">
        <span className="font-medium">
          {handler === null ? null : <span translate="no">{extension ?? handler}: </span>}
          {words(cause, group)}
        </span>
        {message === null ? null : (
          <bdi lang={canonicalLanguage(message.lang) ?? ''} className="line-clamp-3">
            {message.text}
          </bdi>
        )}
        <span translate="no" className="block truncate text-12 text-ink-3">
          {format.list(examples.map(({ name }) => name))}
          {vms > examples.length ? ' …' : null}
        </span>
      </span>
      <span className="tabular-nums">{format.number(vms)}</span>
      <ChevronRight aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-3 rtl:-scale-x-100" />
    </button>
  );
}
