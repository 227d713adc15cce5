'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { IconButton } from '#app/_ui/button.tsx';
import { CodeBlock, type CodeLineNote } from '#app/_ui/code-block.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { OutputDetails, OutputLines } from '../vm-data.ts';

/** Number of lines on a page. */
export const pageRows = 500;

export interface OutputPageProps {
  vmId: string;
  details: OutputDetails;
  /** The row whose page is shown. */
  row: number;
  marked: number | undefined;
  /** Whether the marked row is the error, rather than a search result. */
  isError: boolean;
  label: string;
  onTurn(row: number): void;
}

/** The page of an output that contains the given row. */
export function OutputPage({ vmId, details, row, marked, isError, label, onTurn }: OutputPageProps) {
  const { t } = useTranslation('outputs');
  const format = useFormat();
  const trpc = useTRPC();
  const frame = useRef<HTMLDivElement>(null);
  const { id: outputId, rows, updatedAt } = details;
  const first = Math.floor(row / pageRows) * pageRows;
  const page = useQuery({
    ...trpc.outputs.read.queryOptions({ vmId, outputId, row: first, count: pageRows }),
    placeholderData: keepPreviousData,
  });
  const isRead = page.data?.row === first;
  // Scrolls the container to the marked line without scrolling the window.
  // biome-ignore lint/correctness/useExhaustiveDependencies: loading rows changes the position of the line
  useEffect(() => {
    const line = frame.current?.querySelector<HTMLElement>('[data-marked]');
    const box = line?.closest('section');
    if (line && box && isRead) {
      const away = line.getBoundingClientRect().top - box.getBoundingClientRect().top;
      box.scrollTop += away - box.clientHeight / 3;
    }
  }, [marked, isRead, updatedAt]);
  if (page.error && !page.data) {
    return <QueryError error={page.error} onRetry={page.refetch} at={new Date(page.errorUpdatedAt)} />;
  }
  if (page.data === undefined) return <SkeletonRows columns={['w-64']} rows={8} label={t('loading')} />;
  return (
    <div ref={frame} aria-busy={!isRead} className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <CodeBlock
        code={textOf(page.data)}
        first={page.data.row + 1}
        marked={marked === undefined ? undefined : marked + 1}
        markedAs={isError ? 'failed' : 'progressing'}
        notes={notesOf(
          page.data,
          (bytes) => t('gap', { bytes: format.bytes(bytes) }),
          (bytes) => t('long', { bytes: format.bytes(bytes) }),
        )}
        label={label}
        className="max-h-[32rem]"
      />
      {rows > pageRows ? <PageButtons {...{ label, rows, first, page: page.data, onTurn }} /> : null}
    </div>
  );
}

interface PageButtonsProps extends Pick<OutputPageProps, 'label' | 'onTurn'> {
  rows: number;
  /** The first row of the page. */
  first: number;
  page: OutputLines;
}

function PageButtons({ label, rows, first, page, onTurn }: PageButtonsProps) {
  const { t } = useTranslation('outputs');
  const format = useFormat();
  return (
    <nav aria-label={t('pages', { label })} className="flex flex-wrap items-center gap-1">
      <IconButton label={t('page.first')} size="sm" disabled={first === 0} onClick={() => onTurn(0)}>
        <ChevronFirst aria-hidden className="rtl:-scale-x-100" />
      </IconButton>
      <IconButton label={t('page.previous')} size="sm" disabled={first === 0} onClick={() => onTurn(first - pageRows)}>
        <ChevronLeft aria-hidden className="rtl:-scale-x-100" />
      </IconButton>
      <span role="status" className="px-1.5 text-12 text-ink-2 tabular-nums">
        {t('lines', {
          from: format.number(page.row + 1),
          to: format.number(page.row + page.rows.length),
          all: format.number(rows),
        })}
      </span>
      <IconButton
        label={t('page.next')}
        size="sm"
        disabled={first + pageRows >= rows}
        onClick={() => onTurn(first + pageRows)}
      >
        <ChevronRight aria-hidden className="rtl:-scale-x-100" />
      </IconButton>
      <IconButton label={t('page.last')} size="sm" disabled={first + pageRows >= rows} onClick={() => onTurn(rows - 1)}>
        <ChevronLast aria-hidden className="rtl:-scale-x-100" />
      </IconButton>
    </nav>
  );
}

const textOf = ({ rows }: OutputLines): string => rows.map((row) => (row.kind === 'line' ? row.text : '')).join('\n');

function notesOf(
  { row: first, rows }: OutputLines,
  gap: (bytes: number) => string,
  long: (bytes: number) => string,
): CodeLineNote[] {
  return rows.flatMap((row, index): CodeLineNote[] => {
    const line = first + index + 1;
    if (row.kind === 'gap') return [{ line, status: 'warning', text: gap(row.bytes) }];
    return row.more === undefined ? [] : [{ line, status: 'warning', text: long(row.more) }];
  });
}
