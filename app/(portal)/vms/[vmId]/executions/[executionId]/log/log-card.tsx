'use client';

import { useMutation } from '@tanstack/react-query';
import { type Ref, type RefObject, useEffect, useImperativeHandle, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type KeyBinding, useKeys } from '#app/_lib/keys.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useProblem } from '#app/_lib/use-problem.ts';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Kbd } from '#app/_ui/kbd.tsx';
import { toast } from '#app/_ui/toast.tsx';
import type { LogPart } from '#app/(portal)/executions/execution-data.ts';
import { FirstError } from './first-error.tsx';
import { LevelList, type ShownRows } from './level-list.tsx';
import { type LogCalls, useLogCalls } from './log-calls.ts';
import { LogList, type LogListHandle } from './log-list.tsx';
import { LogTools, type LogView } from './log-tools.tsx';
import { SearchLog } from './search-log.tsx';
import type { LogName, ShownLog } from './shown-log.ts';
import { useFirstError } from './use-first-error.ts';
import type { FirstWindow } from './use-log.ts';

/** The log's methods for the rest of the page. */
export interface LogHandle {
  /** Moves to a row and marks it. */
  show(row: number): void;
}

/** Interval in milliseconds at which the page reports that someone is following the log. */
const followMs = 10_000;

export interface LogCardProps {
  ref: Ref<LogHandle>;
  log: ShownLog;
  first?: FirstWindow | undefined;
  /** The first errors, if the server loaded them. */
  firstErrors?: LogPart | undefined;
  className?: string;
}

/** The log of an execution, or the output of a hook: live, with all its rows behind one scroll bar. */
export function LogCard({ ref, log, first, firstErrors, className }: LogCardProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const list = useRef<LogListHandle>(null);
  const [known, setTotal] = useState(first?.page.total);
  const total = known ?? 0;
  const [missing, setMissing] = useState(first?.page.missing ?? 0);
  const [levelRows, setLevelRows] = useState<ShownRows | null>(null);
  const [query, setQuery] = useState('');
  const [view, setView] = useState<LogView>({ level: 'all', wraps: false, showsClock: false });
  const { isLive } = log;
  const calls = useLogCalls(log.name);
  useTellFollowing(log.name, isLive);
  const show = (row: number) => {
    setView((current) => ({ ...current, level: 'all' }));
    list.current?.show(row);
  };
  useImperativeHandle(ref, () => ({ show }));
  const firstError = useFirstError(calls, log.errorFrom, firstErrors);
  useLogKeys(list, { calls, hasCalls: log.calls.length > 0, isLive, isEmpty: total === 0, view, setView, show });
  const clockFrom = view.showsClock ? log.begunAt : null;
  return (
    <Card className={cn('min-w-0', className)}>
      <CardHeader
        title={t('log.title')}
        note={
          <span className={cn('tabular-nums', known === undefined && 'invisible')}>
            {view.level === 'all' || levelRows === null
              ? t('log.lines', { count: total, n: format.number(total) })
              : t('log.linesShown', {
                  n: `${format.number(levelRows.count)}${levelRows.hasMore ? '+' : ''}`,
                  all: format.number(total),
                })}
          </span>
        }
        actions={total === 0 ? undefined : <SearchLog calls={calls} isLive={isLive} onQuery={setQuery} onShow={show} />}
      />
      {total === 0 ? null : <LogTools log={log} view={view} onChange={setView} />}
      {firstError === undefined ? null : <FirstError error={firstError} onShow={show} />}
      <LogList
        {...{ ref: list, log, source: calls, first, query, clockFrom, wraps: view.wraps }}
        firstError={firstError?.row ?? null}
        isHidden={view.level !== 'all'}
        onTotal={setTotal}
        onMissing={setMissing}
      />
      {view.level === 'all' ? null : (
        <LevelList
          {...{ calls, total, clockFrom, level: view.level, wraps: view.wraps, onShow: show, onRows: setLevelRows }}
        />
      )}
      {total === 0 ? null : <LogFooter {...{ log, missing }} hasError={firstError !== undefined} />}
      <SpokenCount total={total} isLive={isLive} />
    </Card>
  );
}

interface LogKeysInput {
  calls: LogCalls;
  /** Whether the log has calls of a Body. */
  hasCalls: boolean;
  isLive: boolean;
  isEmpty: boolean;
  view: LogView;
  setView(view: LogView): void;
  show(row: number): void;
}

/** Adds the keyboard shortcuts of the log, unless the log is empty. */
function useLogKeys(list: RefObject<LogListHandle | null>, input: LogKeysInput): void {
  const { t } = useTranslation('executions');
  const explain = useProblem();
  const { calls, hasCalls, isLive, isEmpty, view, setView, show } = input;
  const errorsFrom = async (row: number) => (await calls.filter({ level: 'error', row })).rows;
  const nextError = async () => {
    const row = (list.current?.current() ?? -1) + 1;
    const after = await errorsFrom(row);
    // After the last error, continues with the first error.
    const [next] = after.length > 0 ? after : await errorsFrom(0);
    if (next === undefined) toast(t('log.none.error'));
    else show(next.row);
  };
  const follow: KeyBinding = { key: 'f', label: t('log.key.follow'), run: () => list.current?.follow() };
  const steps: KeyBinding[] = [
    { key: '[', label: t('log.key.previous'), run: () => list.current?.step(-1) },
    { key: ']', label: t('log.key.next'), run: () => list.current?.step(1) },
  ];
  const keys: KeyBinding[] = [
    ...(isLive ? [follow] : []),
    {
      key: 'e',
      label: t('log.key.error'),
      run: () => void nextError().catch((error) => toast(explain(error).message)),
    },
    ...(hasCalls ? steps : []),
    { key: 't', label: t('log.key.clock'), run: () => setView({ ...view, showsClock: !view.showsClock }) },
    { key: 'g g', label: t('log.key.start'), run: () => list.current?.toStart() },
    { key: 'G', label: t('log.key.end'), run: () => list.current?.follow() },
  ];
  useKeys(isEmpty ? [] : keys);
}

interface LogFooterProps {
  log: ShownLog;
  /** The number of bytes of the log that have not arrived. While the log grows, they may still arrive. */
  missing: number;
  hasError: boolean;
}

/** Whether the log is complete, and the most useful keys. */
function LogFooter({ log: { isLive, calls, words }, missing, hasError }: LogFooterProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-line-subtle px-4 py-2 text-12 text-ink-2">
      <span>
        {isLive || missing === 0
          ? t(isLive ? 'log.live' : words.end)
          : t('log.incompleteBy', { bytes: format.bytes(missing) })}
      </span>
      <span className="ms-auto flex flex-wrap gap-x-3 max-sm:hidden">
        {isLive ? (
          <span>
            <Kbd>F</Kbd> {t('log.hint.follow')}
          </span>
        ) : null}
        {hasError || calls.some(({ state }) => state === 'failed') ? (
          <span>
            <Kbd>E</Kbd> {t('log.hint.error')}
          </span>
        ) : null}
        {calls.length > 0 ? (
          <span>
            <Kbd>[</Kbd> <Kbd>]</Kbd> {t('log.hint.calls')}
          </span>
        ) : null}
        <span>
          <Kbd>T</Kbd> {t('log.hint.clock')}
        </span>
        <span>
          <Kbd>⇧</Kbd> <Kbd>↓</Kbd> {t('log.hint.select')}
        </span>
      </span>
    </div>
  );
}

/** Tells the portal that someone is reading the log, so that the agent sends new rows every second. */
function useTellFollowing(name: LogName, isLive: boolean): void {
  const trpc = useTRPC();
  const { mutate } = useMutation(trpc.executions.follow.mutationOptions());
  useEffect(() => {
    // Agents send the output of hooks each second anyway.
    if (!isLive || name.of === 'run') return;
    const tell = () => {
      if (document.visibilityState === 'visible') mutate({ vmId: name.vmId, executionId: name.executionId });
    };
    tell();
    const timer = setInterval(tell, followMs);
    return () => clearInterval(timer);
  }, [name, isLive, mutate]);
}

/** Announces new lines to screen readers as a count every ten seconds. */
function SpokenCount({ total, isLive }: { total: number; isLive: boolean }) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const latest = useRef(total);
  const [spoken, setSpoken] = useState(0);
  useEffect(() => {
    latest.current = total;
  }, [total]);
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => setSpoken(latest.current), followMs);
    return () => clearInterval(timer);
  }, [isLive]);
  return (
    <span role="status" className="sr-only">
      {spoken === 0 ? '' : t('log.lines', { count: spoken, n: format.number(spoken) })}
    </span>
  );
}
