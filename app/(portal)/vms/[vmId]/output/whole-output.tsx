'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight, Download } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Banner } from '#app/_ui/banner.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { CodeBlock, type CodeLineNote } from '#app/_ui/code-block.tsx';
import { useFormat } from '#app/_ui/format.ts';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import type { CommandOutput, OutputDetails, OutputLines } from '../vm-data.ts';
import { FirstError } from './first-error-box.tsx';
import { SearchOutput } from './search-output.tsx';

/** Lines on a page. */
const pageRows = 500;
/** Lines among which nobody searches. */
const seenAtOnce = 12;

/** The whole as a file. */
export function DownloadOutput({ vmId, output }: { vmId: string; output: CommandOutput }) {
  const { t } = useTranslation('outputs');
  const { id, extension, command } = output;
  return (
    <Button asChild size="sm">
      <a
        href={`/download/vms/${vmId}/outputs/${id}`}
        aria-label={t('download.label', { name: extension, command })}
        download
      >
        <Download aria-hidden />
        {t('download')}
      </a>
    </Button>
  );
}

export interface WholeOutputProps {
  vmId: string;
  outputId: string;
  /** The command failed: its first error is lifted up, and shown first. */
  failed: boolean;
  label: string;
}

/** All that a command wrote, page by page, with a search over the whole. */
export function WholeOutput({ vmId, outputId, failed, label }: WholeOutputProps) {
  const { t } = useTranslation('outputs');
  const trpc = useTRPC();
  const details = useQuery(trpc.outputs.get.queryOptions({ vmId, outputId }));
  /** The row that somebody went to; null before. */
  const [chosen, setChosen] = useState<number | null>(null);
  if (details.error && !details.data) {
    return <QueryError error={details.error} onRetry={details.refetch} at={new Date(details.errorUpdatedAt)} />;
  }
  if (details.data === undefined) return <SkeletonRows columns={['w-64']} rows={8} label={t('loading')} />;
  const { rows, firstError } = details.data;
  const lifted = failed ? firstError : null;
  const at = chosen ?? lifted?.row ?? Math.max(0, rows - 1);
  return (
    <>
      {lifted ? (
        <FirstError
          line={lifted.row + 1}
          text={lifted.text}
          action={
            rows > pageRows ? (
              <Button size="sm" onClick={() => setChosen(lifted.row)}>
                {t('show')}
              </Button>
            ) : undefined
          }
        />
      ) : null}
      <Arrived details={details.data} />
      {rows > 0 ? (
        <>
          {rows > seenAtOnce ? (
            <SearchOutput vmId={vmId} outputId={outputId} label={label} onChoose={setChosen} />
          ) : null}
          <Page
            vmId={vmId}
            details={details.data}
            row={at}
            marked={chosen ?? lifted?.row}
            isError={chosen === null || chosen === lifted?.row}
            label={label}
            onTurn={setChosen}
          />
        </>
      ) : null}
    </>
  );
}

/** Whether it is all there: nothing is cut without saying so. */
function Arrived({ details: { totalBytes, storedBytes } }: { details: OutputDetails }) {
  const { t } = useTranslation('outputs');
  const format = useFormat();
  const stored = format.bytes(storedBytes);
  if (totalBytes === null) return <p className="text-12 text-ink-3">{t('open', { stored })}</p>;
  if (totalBytes > storedBytes) {
    return (
      <Banner status="warning" boxed>
        {t('missing', { stored, total: format.bytes(totalBytes) })}
      </Banner>
    );
  }
  return totalBytes === 0 ? <p className="text-12 text-ink-3">{t('nothing')}</p> : null;
}

interface PageProps {
  vmId: string;
  details: OutputDetails;
  /** A row of the page. */
  row: number;
  marked: number | undefined;
  /** The marked row is what failed, not what somebody looked for. */
  isError: boolean;
  label: string;
  onTurn(row: number): void;
}

function Page({ vmId, details, row, marked, isError, label, onTurn }: PageProps) {
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
  // The box scrolls, the page stays where its reader is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was read decides where the line stands
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
  const last = page.data.row + page.data.rows.length;
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
      {rows > pageRows ? (
        <nav aria-label={t('pages', { label })} className="flex flex-wrap items-center gap-1">
          <IconButton label={t('page.first')} size="sm" disabled={first === 0} onClick={() => onTurn(0)}>
            <ChevronFirst aria-hidden className="rtl:-scale-x-100" />
          </IconButton>
          <IconButton
            label={t('page.previous')}
            size="sm"
            disabled={first === 0}
            onClick={() => onTurn(first - pageRows)}
          >
            <ChevronLeft aria-hidden className="rtl:-scale-x-100" />
          </IconButton>
          <span role="status" className="px-1.5 text-12 text-ink-2 tabular-nums">
            {t('lines', {
              from: format.number(page.data.row + 1),
              to: format.number(last),
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
          <IconButton
            label={t('page.last')}
            size="sm"
            disabled={first + pageRows >= rows}
            onClick={() => onTurn(rows - 1)}
          >
            <ChevronLast aria-hidden className="rtl:-scale-x-100" />
          </IconButton>
        </nav>
      ) : null}
    </div>
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
