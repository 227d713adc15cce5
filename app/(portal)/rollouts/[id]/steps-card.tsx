'use client';

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Download, X } from 'lucide-react';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC, useTRPCClient } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Select } from '#app/_ui/select.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { ShownRollout } from '../rollout-data.ts';
import { exportSteps } from './export-steps.ts';
import { addressOfSteps, queryOfSteps, type StepsFilter, stepsFilterOf, stepsStates } from './steps-address.ts';
import { StepsTable } from './steps-table.tsx';
import { useCauseWords } from './use-cause-words.ts';

export interface StepsCardProps {
  rollout: ShownRollout;
  filter: StepsFilter;
  onChange(filter: StepsFilter): void;
}

/** The VMs that a rollout reached, in order. The filter is in the URL. */
export function StepsCard({ rollout, filter, onChange }: StepsCardProps) {
  const { t } = useTranslation(['rollouts', 'common']);
  const trpc = useTRPC();
  const list = useInfiniteQuery({
    ...trpc.rollouts.steps.infiniteQueryOptions(
      { id: rollout.id, ...queryOfSteps(filter), limit: 50 },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
    placeholderData: keepPreviousData,
  });
  const steps = list.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Card id="steps" className="mt-4 scroll-mt-4" aria-labelledby="steps-title">
      <CardHeader
        id="steps-title"
        title={t('rollouts:live.steps')}
        actions={<StepsTools rollout={rollout} filter={filter} onChange={onChange} />}
      />
      {list.error && !list.data ? (
        <QueryError title={t('rollouts:live.steps.failed')} error={list.error} onRetry={list.refetch} />
      ) : list.isPending ? (
        <SkeletonRows columns={['w-40', 'w-24', 'w-24', 'w-48']} rows={6} label={t('rollouts:live.steps.loading')} />
      ) : steps.length === 0 ? (
        <p className="px-4 pb-4 text-ink-2">
          {t(addressOfSteps(filter) === '' ? 'rollouts:live.steps.none' : 'rollouts:live.steps.noMatch')}
        </p>
      ) : (
        <div aria-busy={list.isPlaceholderData} className={cn(list.isPlaceholderData && 'opacity-60')}>
          <StepsTable rings={rollout.rings} steps={steps} />
          {list.hasNextPage ? (
            <div className="border-t border-line-subtle p-2">
              <Button variant="ghost" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                {t('common:showMore')}
              </Button>
            </div>
          ) : null}
        </div>
      )}
    </Card>
  );
}

function StepsTools({ rollout, filter, onChange }: StepsCardProps) {
  const { t } = useTranslation('rollouts');
  const client = useTRPCClient();
  const explain = useProblem();
  const { group, ...rest } = filter;
  const put = (part: Record<string, string>) => {
    const given = new URLSearchParams(addressOfSteps(filter));
    for (const [name, value] of Object.entries(part)) given.set(name, value);
    onChange(stepsFilterOf(Object.fromEntries(given)));
  };
  const download = () =>
    exportSteps(
      (cursor) => client.rollouts.steps.query({ id: rollout.id, ...queryOfSteps(filter), limit: 200, cursor }),
      rollout,
    ).catch((error: unknown) => toast(explain(error).message));
  return (
    <>
      {group === undefined ? null : <GroupChip rollout={rollout} group={group} onRemove={() => onChange(rest)} />}
      <Select
        aria-label={t('live.steps.state')}
        className="w-44"
        value={filter.state ?? ''}
        onChange={(event) => put({ state: event.target.value })}
        options={[
          { value: '', label: t('list.anyState') },
          ...stepsStates.map((value) => ({ value, label: t(`step.${value}`) })),
        ]}
      />
      {rollout.rings.length < 2 ? null : (
        <Select
          aria-label={t('live.steps.ring')}
          className="w-36"
          value={filter.ring === undefined ? '' : String(filter.ring)}
          onChange={(event) => put({ ring: event.target.value })}
          options={[
            { value: '', label: t('live.steps.anyRing') },
            ...rollout.rings.map(({ name }, ring) => ({ value: String(ring), label: name, isName: true })),
          ]}
        />
      )}
      {rollout.change.kind === 'run' ? (
        <Button size="sm" variant="ghost" asChild>
          <Link href={`/executions?rollout=${rollout.id}`}>{t('live.steps.executions')}</Link>
        </Button>
      ) : null}
      <Button size="sm" variant="ghost" onClick={() => void download()}>
        <Download aria-hidden />
        {t('live.steps.export')}
      </Button>
    </>
  );
}

interface GroupChipProps {
  rollout: ShownRollout;
  group: string;
  onRemove(): void;
}

/** The cause to which the table is limited. */
function GroupChip({ rollout: { id, change }, group, onRemove }: GroupChipProps) {
  const { t } = useTranslation('rollouts');
  const trpc = useTRPC();
  const words = useCauseWords(change.kind === 'run');
  const failed = useQuery(trpc.rollouts.causes.queryOptions({ id, of: 'failed' }));
  const parked = useQuery(trpc.rollouts.causes.queryOptions({ id, of: 'parked' }));
  const found = [failed, parked].flatMap(({ data }) => data?.items ?? []).find(({ key }) => key === group);
  return (
    <Button size="sm" onClick={onRemove} className="max-w-full">
      <span className="truncate">
        {t('live.steps.causeIs', { cause: found === undefined ? '…' : words(found.cause, found) })}
      </span>
      <X aria-hidden />
    </Button>
  );
}
