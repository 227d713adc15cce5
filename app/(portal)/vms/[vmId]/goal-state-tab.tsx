'use client';

import { useInfiniteQuery } from '@tanstack/react-query';
import { Undo2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { CodeBlock } from '#app/_ui/code-block.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { changesBetween, readable } from './goal-state-changes.ts';
import { GoalStateDiff } from './goal-state-diff.tsx';
import type { PastGoalState } from './vm-data.ts';
import type { VmAct } from './vm-dialogs.tsx';

/** Every goal state that this VM had, newest first, and what one of them changed. */
export function GoalStateTab({ vmId, onAct }: { vmId: string; onAct(act: VmAct): void }) {
  const { t } = useTranslation(['goal-states', 'common']);
  const trpc = useTRPC();
  const [chosen, setChosen] = useState<number>();
  const past = useInfiniteQuery(
    trpc.goalStates.list.infiniteQueryOptions(
      { vmId, limit: 50 },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
  );
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
  const states = past.data.pages.flatMap((page) => page.items);
  const at = Math.max(
    0,
    states.findIndex(({ incarnation }) => incarnation === chosen),
  );
  const state = states[at];
  return (
    <Card className="grid lg:grid-cols-[332px_minmax(0,1fr)]">
      <div className="border-line-subtle max-lg:border-b lg:border-e">
        <ol
          aria-label={t('goal-states:history')}
          className="divide-y divide-line-subtle max-lg:max-h-80 max-lg:overflow-y-auto"
        >
          {states.map((item, index) => (
            <li key={item.incarnation}>
              <HistoryRow
                state={item}
                before={states[index + 1]}
                newest={index === 0}
                selected={index === at}
                onSelect={() => setChosen(item.incarnation)}
              />
            </li>
          ))}
        </ol>
        {past.hasNextPage ? (
          <div className="border-t border-line-subtle p-2">
            <Button variant="ghost" busy={past.isFetchingNextPage} onClick={() => void past.fetchNextPage()}>
              {t('common:showMore')}
            </Button>
          </div>
        ) : null}
      </div>
      {state ? <Contents state={state} before={states[at + 1]} newest={at === 0} onAct={onAct} /> : null}
    </Card>
  );
}

interface HistoryRowProps {
  state: PastGoalState;
  before: PastGoalState | undefined;
  newest: boolean;
  selected: boolean;
  onSelect(): void;
}

function HistoryRow({ state, before, newest, selected, onSelect }: HistoryRowProps) {
  const { t } = useTranslation('goal-states');
  const why = useCause(state, before);
  return (
    <button
      type="button"
      aria-pressed={selected}
      onClick={onSelect}
      className={cn(
        'grid w-full grid-cols-[34px_minmax(0,1fr)_auto] gap-x-2 px-4 py-2 text-start hover:bg-hover focus-visible:shadow-[inset_0_0_0_2px_var(--brand-text)]',
        selected && 'bg-brand-tint hover:bg-brand-tint',
      )}
    >
      <span className="mono text-ink-2 tabular-nums">{state.incarnation}</span>
      <span className="min-w-0">
        <span className="block wrap-anywhere">{why}</span>
        <span className="flex flex-wrap items-center gap-2 text-11 text-ink-3">
          {state.publishedBy}
          {newest ? <Chip className="h-4 px-1 text-11">{t('current')}</Chip> : null}
        </span>
      </span>
      <RelativeTime value={new Date(state.publishedAt)} className="text-11 text-ink-3 tabular-nums" />
    </button>
  );
}

/** What changed, read from the goal states themselves; the recorded cause where the one before is not there. */
function useCause({ cause, extensions }: PastGoalState, before: PastGoalState | undefined): string {
  const { t } = useTranslation('goal-states');
  const name = cause.extension ?? '';
  switch (cause.action) {
    case 'vm.create':
    case 'vm.decommission':
    case 'certificate.bind':
      return t(`cause.${cause.action}`);
    case 'extension.remove':
    case 'extension.removed':
      return t(`cause.${cause.action}`, { name });
    case 'goal-state.revert':
      return t('cause.goal-state.revert', { incarnation: cause.incarnation ?? 0 });
    default: {
      const changes = before ? changesBetween(before.extensions, extensions) : [];
      if (changes.length > 0) return changes.map(({ key, values }) => t(key, values)).join('; ');
      return name === '' ? t('cause.other') : t('cause.extension.set', { name });
    }
  }
}

interface ContentsProps {
  state: PastGoalState;
  before: PastGoalState | undefined;
  newest: boolean;
  onAct(act: VmAct): void;
}

function Contents({ state, before, newest, onAct }: ContentsProps) {
  const { t } = useTranslation('goal-states');
  const [view, setView] = useState<'diff' | 'json'>('diff');
  const { incarnation } = state;
  return (
    <div className="min-w-0">
      <CardHeader
        title={t('title')}
        note={
          <span className="tabular-nums">
            {before ? t('range', { from: before.incarnation, to: incarnation }) : `${incarnation}, ${t('first')}`}
          </span>
        }
        actions={
          <>
            <Segmented<'diff' | 'json'>
              label={t('view')}
              value={view}
              onChange={setView}
              options={[
                { value: 'diff', label: t('view.diff') },
                { value: 'json', label: t('view.json') },
              ]}
            />
            {newest ? null : (
              <Button size="sm" onClick={() => onAct({ kind: 'revert', incarnation })}>
                <Undo2 aria-hidden />
                {t('revert', { incarnation })}
              </Button>
            )}
          </>
        }
        className="border-b border-line-subtle"
      />
      {view === 'diff' && before ? (
        <GoalStateDiff before={before} after={state} />
      ) : (
        <CodeBlock
          language="json"
          code={readable(state.extensions)}
          label={t('json.label', { incarnation })}
          className="max-h-[70vh] rounded-none bg-transparent shadow-none"
        />
      )}
    </div>
  );
}
