'use client';

import { useMutation } from '@tanstack/react-query';
import { type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type KeyBinding, useKeys } from '#app/_lib/keys.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { Kbd } from '#app/_ui/kbd.tsx';
import { hasEnded, type ShownExecutionDetails } from '#app/(portal)/executions/execution-data.ts';
import { LogList, type LogListHandle } from './log-list.tsx';
import { SearchLog } from './search-log.tsx';
import type { FirstWindow } from './use-log.ts';

/** The log's methods for the rest of the page. */
export interface LogHandle {
  /** Moves to a row and marks it. */
  show(row: number): void;
}

/** Interval in milliseconds at which the page reports that someone follows the log. */
const followMs = 10_000;

export interface LogCardProps {
  ref: Ref<LogHandle>;
  execution: ShownExecutionDetails;
  first: FirstWindow | undefined;
}

/** The log of an execution: live, with all its rows behind one scroll bar. */
export function LogCard({ ref, execution, first }: LogCardProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const list = useRef<LogListHandle>(null);
  const [total, setTotal] = useState(0);
  const [wraps, setWraps] = useState(false);
  const isLive = !hasEnded(execution);
  useTellFollowing(execution, isLive);
  useImperativeHandle(ref, () => ({ show: (row) => list.current?.show(row) }));
  const keys: KeyBinding[] = [
    { key: 'f', label: t('log.key.follow'), run: () => list.current?.follow() },
    { key: '[', label: t('log.key.previous'), run: () => list.current?.step(-1) },
    { key: ']', label: t('log.key.next'), run: () => list.current?.step(1) },
  ];
  useKeys(keys);
  return (
    <Card className="min-w-0">
      <CardHeader
        title={t('log.title')}
        note={<span className="tabular-nums">{t('log.lines', { count: total, n: format.number(total) })}</span>}
        actions={
          <>
            {total === 0 ? null : (
              <SearchLog vmId={execution.vmId} executionId={execution.id} onShow={(row) => list.current?.show(row)} />
            )}
            <Button size="sm" variant="ghost" aria-pressed={wraps} onClick={() => setWraps(!wraps)}>
              {t(wraps ? 'log.noWrap' : 'log.wrap')}
            </Button>
          </>
        }
      />
      <LogList ref={list} execution={execution} first={first} isLive={isLive} wraps={wraps} onTotal={setTotal} />
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-line-subtle px-4 py-2 text-12 text-ink-2">
        <span>{t(isLive ? 'log.live' : 'log.complete')}</span>
        <span className="ms-auto flex flex-wrap gap-x-3 max-sm:hidden">
          {isLive ? (
            <span>
              <Kbd>F</Kbd> {t('log.key.follow')}
            </span>
          ) : null}
          <span>
            <Kbd>[</Kbd> <Kbd>]</Kbd> {t('log.key.calls')}
          </span>
        </span>
      </div>
      <SpokenCount total={total} isLive={isLive} />
    </Card>
  );
}

/** Tells the portal that someone reads the log, so that the agent sends it each second. */
function useTellFollowing({ vmId, id }: Pick<ShownExecutionDetails, 'vmId' | 'id'>, isLive: boolean): void {
  const trpc = useTRPC();
  const { mutate } = useMutation(trpc.executions.follow.mutationOptions());
  useEffect(() => {
    if (!isLive) return;
    const tell = () => {
      if (document.visibilityState === 'visible') mutate({ vmId, executionId: id });
    };
    tell();
    const timer = setInterval(tell, followMs);
    return () => clearInterval(timer);
  }, [vmId, id, isLive, mutate]);
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
