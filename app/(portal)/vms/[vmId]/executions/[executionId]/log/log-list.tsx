'use client';

import { ArrowDown } from 'lucide-react';
import { type Ref, useEffect, useImperativeHandle, useMemo, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button } from '#app/_ui/button.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { LogCalls } from './log-calls.ts';
import { LogRowView } from './log-row.tsx';
import type { MarkedRows } from './marked-rows.ts';
import { textOfRows } from './row-text.ts';
import { SectionButtons } from './section-buttons.tsx';
import { maxCopied, SelectedRows } from './selected-rows.tsx';
import type { ShownLog } from './shown-log.ts';
import { type FirstWindow, readRows } from './use-log.ts';
import { useLogRows } from './use-log-rows.ts';
import { useTakenFocus } from './use-taken-focus.ts';
import { VirtualRow } from './virtual-row.tsx';

export interface LogListHandle {
  /** Moves to a row and marks it. */
  show(row: number): void;
  /** Moves to the end and stays there. */
  follow(): void;
  /** Scrolls to the first row. */
  toStart(): void;
  /** Moves to the next or the previous call. */
  step(by: 1 | -1): void;
  /** Returns the marked row or, if no row is marked, the row before the first visible row. */
  current(): number;
}

export interface LogListProps {
  ref: Ref<LogListHandle>;
  log: ShownLog;
  source: LogCalls;
  first: FirstWindow | undefined;
  wraps: boolean;
  query: string;
  clockFrom: string | null;
  /** The row of the first error; null if no error is known. */
  firstError: number | null;
  /** Whether the level list is shown instead. */
  isHidden: boolean;
  onTotal(total: number): void;
  onMissing(bytes: number): void;
}

/** Tells the card how many rows the log has, and how many bytes are missing once that is known. */
function useTellSize({
  total,
  missing,
  onTotal,
  onMissing,
}: Pick<LogListProps, 'onTotal' | 'onMissing'> & { total: number | undefined; missing: number | undefined }): void {
  useEffect(() => {
    if (total !== undefined) onTotal(total);
  }, [onTotal, total]);
  useEffect(() => {
    if (missing !== undefined) onMissing(missing);
  }, [onMissing, missing]);
}

/** The rows of a log. Only visible rows and a few around them are in the document. */
export function LogList({ ref, log: shown, source, first, isHidden, onTotal, onMissing, ...props }: LogListProps) {
  const { wraps, query, clockFrom, firstError } = props;
  const { isLive, calls } = shown;
  const { t } = useTranslation('executions');
  const frame = useRef<HTMLElement>(null);
  const list = useLogRows(frame, { source, calls, first, isLive, isHidden });
  const { log, rows, follow, virtual, items, marks, folded } = list;
  const { total, missing } = log;
  const { marked } = marks;
  useTellSize({ total: log.isLoaded ? total : undefined, missing, onTotal, onMissing });
  useTakenFocus(frame, isHidden);
  const callAt = useMemo(() => new Map(calls.map((call) => [call.row, call])), [calls]);
  useImperativeHandle(ref, () => ({
    show: (row) => list.show({ from: row, to: row }),
    follow: follow.follow,
    toStart: () => list.showSection(0),
    step: list.step,
    current: () => marked?.from ?? list.topRow() - 1,
  }));
  if (log.failed !== undefined && !log.isLoaded) {
    return <QueryError title={t('log.failed')} error={log.failed.error} onRetry={log.failed.refetch} />;
  }
  if (!log.isLoaded) return <SkeletonRows columns={['w-8', 'w-64']} rows={8} label={t('log.loading')} />;
  if (total === 0) {
    return <p className="px-4 pb-4 text-12 text-pretty text-ink-2">{t(shown.words.empty)}</p>;
  }
  const read = async ({ from, to }: MarkedRows) => {
    const count = Math.min(to - from + 1, maxCopied);
    return textOfRows((await readRows(source, { first: from, count })).rows);
  };
  return (
    <div className="relative" hidden={isHidden}>
      <SectionButtons total={total} section={list.section} onShow={list.showSection} />
      <section
        ref={frame}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
        tabIndex={0}
        aria-label={t('log.title')}
        dir="ltr"
        translate="no"
        onScroll={() => follow.onScroll(total)}
        onKeyDown={list.press}
        className="mono max-h-[38rem] scroll-mt-4 scroll-mb-12 overflow-auto border-t border-line-subtle leading-5 max-sm:max-h-[28rem] max-sm:scroll-mb-28"
      >
        <div className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows.rowAt(item.index);
            const call = callAt.get(row);
            return (
              <VirtualRow key={item.key} {...{ virtual, item, wraps }}>
                <LogRowView
                  row={row}
                  record={log.rowAt(row)}
                  call={call}
                  isFolded={call !== undefined && folded.has(call.n)}
                  isMarked={marked !== null && row >= marked.from && row <= marked.to}
                  isFirstError={row === firstError}
                  wraps={wraps}
                  query={query}
                  clockFrom={clockFrom}
                  onMark={marks.click}
                  onFold={list.toggle}
                />
              </VirtualRow>
            );
          })}
          {marked?.isSelection ? (
            <SelectedRows rows={marked} place={list.placeOf(marked)} read={read} onClear={marks.clear} />
          ) : null}
        </div>
      </section>
      {isLive && !follow.follows ? (
        <NewLines count={Math.max(0, total - follow.seen)} onFollow={follow.follow} />
      ) : null}
      <PartFailed failed={log.failed} />
    </div>
  );
}

/** Says that rows on screen did not load, with a button to try again. Without it, they would only look empty. */
function PartFailed({ failed }: { failed: ReturnType<typeof useLogRows>['log']['failed'] }) {
  const { t } = useTranslation('executions');
  if (failed === undefined) return null;
  return (
    <div className="border-t border-line-subtle">
      <QueryError title={t('log.partFailed')} error={failed.error} onRetry={failed.refetch} />
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
