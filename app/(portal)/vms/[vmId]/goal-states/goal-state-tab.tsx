'use client';

import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Undo2 } from 'lucide-react';
import { useSearchParams } from 'next/navigation';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useKeys } from '#app/_lib/keys.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { CopyButton } from '#app/_ui/copy.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { putInAddress } from '../put-in-address.ts';
import type { GoalStateComparison } from '../vm-data.ts';
import type { VmAct } from '../vm-dialogs.tsx';
import { DiffView } from './diff-view.tsx';
import { type ComparedPair, HistoryList } from './history-list.tsx';
import { readableGoalState } from './readable.ts';
import { useChangeWords } from './use-change-words.ts';

const shapes = ['unified', 'split', 'json'] as const;
type Shape = (typeof shapes)[number];

/** Every goal state of the VM, newest first, and the differences between any two. */
export function GoalStateTab({ vmId, onAct }: { vmId: string; onAct(act: VmAct): void }) {
  const { t } = useTranslation(['goal-states', 'common']);
  const trpc = useTRPC();
  const past = useInfiniteQuery(
    trpc.goalStates.changes.infiniteQueryOptions(
      { vmId, limit: 50 },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
  );
  const states = past.data?.pages.flatMap((page) => page.items) ?? [];
  const newest = states[0]?.incarnation ?? 0;
  const pair = usePair(newest);
  const walk = (step: number) => {
    const to = Math.min(newest, Math.max(1, pair.to + step));
    putPair({ from: to - 1, to });
  };
  useKeys([
    { key: 'j', label: t('goal-states:keys.older'), run: () => walk(-1) },
    { key: 'k', label: t('goal-states:keys.newer'), run: () => walk(1) },
  ]);
  if (past.error && !past.data) {
    return (
      <Card>
        <QueryError
          error={past.error}
          title={t('goal-states:failed')}
          onRetry={past.refetch}
          at={new Date(past.errorUpdatedAt)}
        />
      </Card>
    );
  }
  if (past.isPending) {
    return (
      <Card>
        <SkeletonRows columns={['w-8', 'w-48', 'w-16']} rows={8} label={t('goal-states:loading')} />
      </Card>
    );
  }
  return (
    <Card className="grid lg:grid-cols-[372px_minmax(0,1fr)]">
      <div className="min-w-0 border-line-subtle max-lg:border-b lg:max-h-[calc(70vh+96px)] lg:overflow-y-auto lg:border-e">
        <HistoryList states={states} newest={newest} pair={pair} onCompare={putPair} />
        {past.hasNextPage ? (
          <div className="border-t border-line-subtle p-2">
            <Button variant="ghost" busy={past.isFetchingNextPage} onClick={() => void past.fetchNextPage()}>
              {t('common:showMore')}
            </Button>
          </div>
        ) : null}
      </div>
      <Comparison vmId={vmId} pair={pair} newest={newest} onAct={onAct} />
    </Card>
  );
}

/** Returns the two goal states in the URL; by default the newest goal state and the goal state before it. */
function usePair(newest: number): ComparedPair {
  const address = useSearchParams();
  const read = (name: string, least: number, usual: number) => {
    const value = Number(address.get(name) ?? '');
    return address.has(name) && Number.isSafeInteger(value) && value >= least ? value : usual;
  };
  const to = read('b', 1, newest);
  return { from: read('a', 0, Math.max(0, to - 1)), to };
}

const putPair = ({ from, to }: ComparedPair): void => putInAddress({ a: String(from), b: String(to) });

interface ComparisonProps {
  vmId: string;
  pair: ComparedPair;
  newest: number;
  onAct(act: VmAct): void;
}

function Comparison({ vmId, pair, newest, onAct }: ComparisonProps) {
  const { t } = useTranslation('goal-states');
  const trpc = useTRPC();
  const wanted = useSearchParams().get('view');
  const shape = shapes.find((each) => each === wanted) ?? 'unified';
  const compared = useQuery({
    ...trpc.goalStates.compare.queryOptions({ vmId, ...pair }),
    enabled: pair.to > 0,
    placeholderData: keepPreviousData,
  });
  // Reverts to the selected goal state or, if the newest goal state is selected, to the goal state that it is compared
  // with.
  const target = pair.to === newest ? pair.from : pair.to;
  return (
    <div className="min-w-0">
      <CardHeader
        title={t('title')}
        note={<span className="tabular-nums">{pair.from === 0 ? `${pair.to}, ${t('first')}` : t('range', pair)}</span>}
        actions={
          <div className="flex flex-wrap items-center justify-end gap-2">
            <Segmented<Shape>
              label={t('view')}
              value={shape}
              onChange={(view) => putInAddress({ view: view === 'unified' ? null : view })}
              options={shapes.map((value) => ({ value, label: t(`view.${value}`) }))}
            />
            {target === 0 || target === newest ? null : (
              <Button size="sm" onClick={() => onAct({ kind: 'revert', incarnation: target })}>
                <Undo2 aria-hidden />
                {t('revert', { incarnation: target })}
              </Button>
            )}
          </div>
        }
        className="border-b border-line-subtle"
      />
      {compared.data ? (
        <Contents comparison={compared.data} shape={shape} />
      ) : compared.error ? (
        <QueryError error={compared.error} onRetry={compared.refetch} at={new Date(compared.errorUpdatedAt)} />
      ) : (
        <SkeletonRows columns={['w-56', 'w-24']} rows={8} label={t('loading')} />
      )}
    </div>
  );
}

function Contents({ comparison, shape }: { comparison: GoalStateComparison; shape: Shape }) {
  const { t } = useTranslation('goal-states');
  const say = useChangeWords();
  const { after, changes } = comparison;
  if (shape === 'json') {
    const text = readableGoalState(after.extensions);
    const label = t('json.label', { incarnation: after.incarnation });
    return (
      <div className="relative">
        <CodeBlock
          language="json"
          code={text}
          label={label}
          className="max-h-[70vh] rounded-none bg-transparent shadow-none"
        />
        <CopyButton text={text} label={t('documents.copy', { document: label })} className="absolute end-3 top-2" />
      </div>
    );
  }
  return (
    <>
      {changes.length > 1 ? (
        <ul className="flex max-h-24 flex-wrap gap-x-4 gap-y-0.5 overflow-y-auto border-b border-line-subtle px-4 py-2 text-12 text-ink-2">
          {changes.map((change) => (
            <li key={change.extension + change.kind} className="wrap-anywhere">
              {say(change)}
            </li>
          ))}
        </ul>
      ) : null}
      <DiffView comparison={comparison} shape={shape} />
    </>
  );
}
