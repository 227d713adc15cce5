'use client';

import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { LogCalls } from './log-calls.ts';
import { LogRowView } from './log-row.tsx';
import { rowHeight } from './row-height.ts';
import type { LevelFilter } from './shown-log.ts';
import { useLevel } from './use-level.ts';
import { useMarkedRow } from './use-marked-row.ts';
import { VirtualRow } from './virtual-row.tsx';

export interface LevelListProps {
  calls: LogCalls;
  level: LevelFilter;
  /** The number of rows of the whole log. */
  total: number;
  wraps: boolean;
  clockFrom: string | null;
  /** Shows a row in the whole log. */
  onShow(row: number): void;
  /** Called when the number of selected rows changes, and with null while it is unknown. */
  onRows(rows: ShownRows | null): void;
}

/** The rows that a level filter selects. */
export interface ShownRows {
  count: number;
  /** Whether there are more rows than have been loaded. */
  hasMore: boolean;
}

/**
 * The rows of a log that a level filter selects. The number of each row links to the row in the whole log. By keyboard,
 * Shift and the arrow keys mark a row, and Enter shows it in the whole log.
 */
export function LevelList({ calls, level, total, wraps, clockFrom, onShow, onRows }: LevelListProps) {
  const { t } = useTranslation('executions');
  const frame = useRef<HTMLElement>(null);
  const { query, rows, hasMore, more, retry } = useLevel(calls, level, total);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => frame.current,
    estimateSize: () => rowHeight,
    overscan: 20,
    useFlushSync: false,
  });
  const items = virtual.getVirtualItems();
  const { marked, press } = useMarkedRow({ virtual, rows, onShow });
  const isNearEnd = (items.at(-1)?.index ?? 0) >= rows.length - 20;
  useEffect(() => {
    if (isNearEnd) more();
  });
  const count = query.data === undefined ? null : rows.length;
  useEffect(() => onRows(count === null ? null : { count, hasMore }), [onRows, count, hasMore]);
  if (query.error) return <QueryError title={t('log.failed')} error={query.error} onRetry={retry} />;
  if (query.isPending) return <SkeletonRows columns={['w-8', 'w-64']} rows={8} label={t('log.loading')} />;
  if (rows.length === 0 && !hasMore) {
    return <p className="px-4 pb-4 text-12 text-pretty text-ink-2">{t(`log.none.${level}`)}</p>;
  }
  return (
    <section
      ref={frame}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard
      tabIndex={0}
      aria-label={t('log.title')}
      aria-busy={query.isFetching}
      dir="ltr"
      translate="no"
      onKeyDown={press}
      className="mono max-h-[38rem] overflow-auto border-t border-line-subtle leading-5 max-sm:max-h-[28rem]"
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const record = rows[item.index];
          if (record === undefined) return null;
          return (
            <VirtualRow key={record.row} {...{ virtual, item, wraps }}>
              <LogRowView
                row={record.row}
                record={record}
                call={undefined}
                isFolded={false}
                isMarked={item.index === marked}
                isFirstError={false}
                wraps={wraps}
                query=""
                clockFrom={clockFrom}
                onMark={(event) => {
                  event.preventDefault();
                  onShow(record.row);
                }}
                onFold={() => {}}
              />
            </VirtualRow>
          );
        })}
      </div>
    </section>
  );
}
