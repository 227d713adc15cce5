'use client';

import { ArrowDown } from 'lucide-react';
import { type Ref, useEffect, useImperativeHandle, useMemo, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { ShownExecutionDetails } from '#app/(portal)/executions/execution-data.ts';
import { LogRowView } from './log-row.tsx';
import type { FirstWindow } from './use-log.ts';
import { rowHeight, useLogRows } from './use-log-rows.ts';

export interface LogListHandle {
  /** Moves to a row and marks it. */
  show(row: number): void;
  /** Moves to the end and stays there. */
  follow(): void;
  /** Moves to the next or the previous call. */
  step(by: 1 | -1): void;
}

export interface LogListProps {
  ref: Ref<LogListHandle>;
  execution: ShownExecutionDetails;
  first: FirstWindow | undefined;
  isLive: boolean;
  wraps: boolean;
  onTotal(total: number): void;
}

/** The rows of a log. Only visible rows and a few around them are in the document. */
export function LogList({ ref, wraps, onTotal, ...input }: LogListProps) {
  const { t } = useTranslation('executions');
  const frame = useRef<HTMLElement>(null);
  const list = useLogRows(frame, input);
  const { execution, isLive } = input;
  const { log, rows, follow, virtual, items, marked, folded } = list;
  const { total } = log;
  useEffect(() => onTotal(total), [onTotal, total]);
  const callAt = useMemo(() => new Map(execution.calls.map((call) => [call.row, call])), [execution.calls]);
  useImperativeHandle(ref, () => ({
    show: (row) => list.show({ from: row, to: row }),
    follow: follow.follow,
    step: list.step,
  }));
  if (log.failed !== undefined && !log.isLoaded) {
    return <QueryError title={t('log.failed')} error={log.failed.error} onRetry={log.failed.refetch} />;
  }
  if (!log.isLoaded) return <SkeletonRows columns={['w-8', 'w-64']} rows={8} label={t('log.loading')} />;
  if (total === 0) {
    const word = !isLive ? 'log.nothing' : execution.begunAt === null ? 'log.notBegun' : 'log.nothingYet';
    return <p className="px-4 pb-4 text-12 text-pretty text-ink-2">{t(word)}</p>;
  }
  const unseen = follow.follows ? 0 : Math.max(0, rows.count - follow.seen);
  return (
    <div className="relative">
      <section
        ref={frame}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
        tabIndex={0}
        aria-label={t('log.title')}
        dir="ltr"
        translate="no"
        onScroll={follow.onScroll}
        className="mono max-h-[38rem] overflow-auto border-t border-line-subtle leading-5 max-sm:max-h-[28rem]"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows.rowAt(item.index);
            const call = callAt.get(row);
            return (
              <div
                key={item.key}
                ref={wraps ? virtual.measureElement : undefined}
                data-index={item.index}
                className="absolute top-0 left-0 min-w-full"
                style={{
                  transform: `translateY(${item.start}px)`,
                  ...(wraps ? { width: '100%' } : { height: rowHeight }),
                }}
              >
                <LogRowView
                  row={row}
                  record={log.rowAt(row)}
                  call={call}
                  isFolded={call !== undefined && folded.has(call.n)}
                  isMarked={marked !== null && row >= marked.from && row <= marked.to}
                  wraps={wraps}
                  onMark={list.mark}
                  onFold={list.fold}
                />
              </div>
            );
          })}
        </div>
      </section>
      {isLive && !follow.follows ? <NewLines count={unseen} onFollow={follow.follow} /> : null}
    </div>
  );
}

function NewLines({ count, onFollow }: { count: number; onFollow(): void }) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  return (
    <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
      <Button size="sm" onClick={onFollow} className="pointer-events-auto rounded-full shadow-float">
        <ArrowDown aria-hidden />
        {count === 0 ? t('log.toEnd') : t('log.newLines', { count, n: format.number(count) })}
      </Button>
    </div>
  );
}
