'use client';

import { type MouseEvent, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { LogRow, ShownCall } from '#app/(portal)/executions/execution-data.ts';
import { shortDuration } from '#app/(portal)/executions/short-duration.ts';
import { CallLine } from './call-line.tsx';
import { endOfCall } from './error-text.ts';
import { LogText } from './log-text.tsx';

export interface LogRowProps {
  row: number;
  /** Undefined while the row is loading. */
  record: LogRow | undefined;
  /** The call that begins in this row. */
  call: ShownCall | undefined;
  isFolded: boolean;
  isMarked: boolean;
  /** Whether the row is the first error of the log. */
  isFirstError: boolean;
  wraps: boolean;
  /** The text that the reader searches for. */
  query: string;
  /** When time 0 was, if rows show the time of day. */
  clockFrom: string | null;
  onMark(event: MouseEvent<HTMLAnchorElement>, row: number): void;
  onFold(call: ShownCall): void;
}

/** One row of a log: its number, its time, and what was written. */
export function LogRowView(props: LogRowProps) {
  const { row, record, call, isFolded, isMarked, isFirstError, wraps, query, clockFrom, onMark, onFold } = props;
  const { t } = useTranslation('executions');
  const place = useRef<HTMLDivElement>(null);
  useShowMatch(place, isMarked && record !== undefined ? query : '');
  return (
    <div
      ref={place}
      data-row={row}
      data-marked={isMarked || undefined}
      className={cn(
        'grid min-w-full grid-cols-[3.75rem_4rem_2.75rem_minmax(0,1fr)] max-sm:grid-cols-[3.25rem_2.5rem_minmax(0,1fr)]',
        !wraps && 'w-max',
        record?.kind === 'call' && 'bg-sunken',
        isFirstError && 'bg-failed-tint shadow-[inset_2px_0_var(--failed-solid)]',
        isMarked && 'bg-brand-tint shadow-[inset_2px_0_var(--brand-text)]',
      )}
    >
      <a
        href={`#L${row + 1}`}
        tabIndex={-1}
        aria-label={t('log.line', { n: row + 1 })}
        onClick={(event) => onMark(event, row)}
        className="pe-3 text-end text-ink-3 tabular-nums select-none hover:text-brand-text max-sm:pe-2"
      >
        {row + 1}
      </a>
      <span aria-hidden className="pe-2 text-end text-ink-3 tabular-nums select-none max-sm:hidden">
        {record?.ms == null ? null : clockFrom === null ? (
          clock(record.ms)
        ) : (
          <Clock at={Date.parse(clockFrom) + record.ms} />
        )}
      </span>
      <span className="pe-2 text-end text-11 leading-5 select-none">
        {record === undefined ? null : <Mark record={record} />}
      </span>
      <span className={cn('pe-4', wraps ? 'whitespace-pre-wrap wrap-anywhere' : 'whitespace-pre')}>
        {record === undefined ? (
          ' '
        ) : record.kind === 'call' ? (
          <CallLine record={record} call={call} isFolded={isFolded} onFold={onFold} />
        ) : (
          <Contents record={record} wraps={wraps} query={query} />
        )}
      </span>
    </div>
  );
}

/** Scrolls the list sideways if the first match in a marked row is outside the visible part. */
function useShowMatch(row: RefObject<HTMLDivElement | null>, query: string): void {
  useEffect(() => {
    const match = query === '' ? null : row.current?.querySelector('mark');
    const list = row.current?.closest('section');
    if (!match || !list) return;
    const [inside, around] = [match.getBoundingClientRect(), list.getBoundingClientRect()];
    if (inside.left >= around.left && inside.right <= around.right) return;
    list.scrollLeft += (inside.left + inside.right - around.left - around.right) / 2;
  }, [row, query]);
}

/** Formats milliseconds since the beginning as `0:14.2`. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const shown = shortDuration(Math.max(60_000, ms));
  const text = seconds < 60 ? `0:${String(seconds).padStart(2, '0')}` : shown.unit === 'clock' ? shown.text : '';
  return `${text}.${Math.floor((ms % 1_000) / 100)}`;
}

function Clock({ at }: { at: number }) {
  return <>{useFormat().dateTime(new Date(at), 'time')}</>;
}

/** Marks output on stderr, the level of a log message, and gaps in the log. */
function Mark({ record: { kind, level } }: { record: LogRow }) {
  const { t } = useTranslation('executions');
  if (kind === 'err' && level === null) return <span className="text-ink-2">{t('log.err')}</span>;
  if (kind === 'gap') return <StatusIcon status="warning" label={t('log.missing')} />;
  if (kind !== 'log' && level === null) return null;
  if (level === 'warning') return <StatusIcon status="warning" label={t('log.level.warning')} />;
  if (level === 'error' || level === 'fatal') return <StatusIcon status="failed" label={t(`log.level.${level}`)} />;
  return <span className="text-ink-3">{t(level === 'debug' ? 'log.level.debug' : 'log.level.info')}</span>;
}

function Contents({ record, wraps, query }: { record: LogRow; wraps: boolean; query: string }) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const { kind, n, text } = record;
  switch (kind) {
    case 'out':
    case 'err':
    case 'text':
      return <LogText text={text} query={query} />;
    case 'log':
      return (
        <span className="font-sans">
          <LogText text={wraps ? text : text.replaceAll('\n', ' ⏎ ')} query={query} />
        </span>
      );
    case 'end':
      return <EndLine n={n} text={text} />;
    case 'gap':
      return <Portal>{t('log.gap', { bytes: format.bytes(Number(text)) })}</Portal>;
    case 'same':
      return <Portal>{t('log.same', { n: n ?? 0 })}</Portal>;
    case 'reboot':
      return <Portal>{t('log.reboot')}</Portal>;
    case 'done':
      return <Portal>{n ? t('log.done', { code: n }) : t('log.done.ok')}</Portal>;
    case 'begin':
      return (
        <Portal>
          {t(text === 'agent' ? 'log.begin.agent' : text === 'reboot' ? 'log.begin.reboot' : 'log.begin')}
        </Portal>
      );
    default:
      return (
        <Portal>
          <LogText text={text} query={query} />
        </Portal>
      );
  }
}

/** A message from the agent or the portal, rather than from the plan. */
const Portal = ({ children }: { children: ReactNode }) => <span className="font-sans text-ink-2">{children}</span>;

function EndLine({ n, text }: { n: number | null; text: string }) {
  const { t } = useTranslation('executions');
  const { exitCode, error } = endOfCall(text);
  const words = exitCode === null ? t('log.end', { n: n ?? 0 }) : t('log.end.exit', { n: n ?? 0, exit: exitCode });
  return (
    <Portal>
      {words}
      {error === '' ? null : <span className="text-failed-text"> {error}</span>}
    </Portal>
  );
}
