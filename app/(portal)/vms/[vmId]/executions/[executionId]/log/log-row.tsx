'use client';

import { type MouseEvent, type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { StatusIcon } from '#app/_ui/status-icon.tsx';
import type { LogRow, ShownCall } from '#app/(portal)/executions/execution-data.ts';
import { shortDuration } from '#app/(portal)/executions/short-duration.ts';
import { CallLine } from './call-line.tsx';
import { terminalText } from './terminal-text.ts';

/** Longer lines are cut on the page only; the log keeps them whole. */
const maxCharacters = 4_096;

export interface LogRowProps {
  row: number;
  /** Undefined while the row is loading. */
  record: LogRow | undefined;
  /** The call that begins in this row. */
  call: ShownCall | undefined;
  isFolded: boolean;
  isMarked: boolean;
  wraps: boolean;
  onMark(event: MouseEvent<HTMLAnchorElement>, row: number): void;
  onFold(n: number): void;
}

/** One row of a log: its number, its time, and what was written. */
export function LogRowView({ row, record, call, isFolded, isMarked, wraps, onMark, onFold }: LogRowProps) {
  const { t } = useTranslation('executions');
  return (
    <div
      data-row={row}
      data-marked={isMarked || undefined}
      className={cn(
        'grid min-w-full grid-cols-[3.75rem_4rem_2.75rem_minmax(0,1fr)] max-sm:grid-cols-[3rem_2.5rem_minmax(0,1fr)]',
        !wraps && 'w-max',
        record?.kind === 'call' && 'bg-sunken',
        isMarked && 'bg-brand-tint shadow-[inset_2px_0_var(--brand-text)]',
      )}
    >
      <a
        href={`#L${row + 1}`}
        tabIndex={-1}
        aria-label={t('log.line', { n: row + 1 })}
        onClick={(event) => onMark(event, row)}
        className="pe-3 text-end text-ink-3 tabular-nums select-none hover:text-brand-text"
      >
        {row + 1}
      </a>
      <span aria-hidden className="pe-2 text-end text-ink-3 tabular-nums select-none max-sm:hidden">
        {record?.ms == null ? '' : clock(record.ms)}
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
          <Contents record={record} wraps={wraps} />
        )}
      </span>
    </div>
  );
}

/** Formats milliseconds since the beginning as `0:14.2`. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const shown = shortDuration(Math.max(60_000, ms));
  const text = seconds < 60 ? `0:${String(seconds).padStart(2, '0')}` : shown.unit === 'clock' ? shown.text : '';
  return `${text}.${Math.floor((ms % 1_000) / 100)}`;
}

/** Whether a line was written to stderr, or how serious a log message is. */
function Mark({ record: { kind, level } }: { record: LogRow }) {
  const { t } = useTranslation('executions');
  if (kind === 'err') return <span className="text-ink-2">{t('log.err')}</span>;
  if (kind === 'gap') return <StatusIcon status="warning" label={t('log.missing')} />;
  if (kind !== 'log') return null;
  if (level === 'warning') return <StatusIcon status="warning" label={t('log.level.warning')} />;
  if (level === 'error' || level === 'fatal') return <StatusIcon status="failed" label={t(`log.level.${level}`)} />;
  return <span className="text-ink-3">{t(level === 'debug' ? 'log.level.debug' : 'log.level.info')}</span>;
}

function Contents({ record, wraps }: { record: LogRow; wraps: boolean }) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const { kind, n, text } = record;
  switch (kind) {
    case 'out':
    case 'err':
    case 'text':
      return <Line text={terminalText(text)} />;
    case 'log':
      return (
        <span className="font-sans">
          <Line text={wraps ? text : text.replaceAll('\n', ' ⏎ ')} />
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
      return <Portal>{t('log.done', { code: n ?? 0 })}</Portal>;
    case 'begin':
      return (
        <Portal>
          {t(text === 'agent' ? 'log.begin.agent' : text === 'reboot' ? 'log.begin.reboot' : 'log.begin')}
        </Portal>
      );
    default:
      return <Portal>{terminalText(text)}</Portal>;
  }
}

/** A message from the agent or the portal, rather than from the plan. */
const Portal = ({ children }: { children: ReactNode }) => <span className="font-sans text-ink-2">{children}</span>;

function Line({ text }: { text: string }) {
  const { t } = useTranslation('executions');
  const [isWhole, setWhole] = useState(false);
  if (isWhole || text.length <= maxCharacters) return text;
  return (
    <>
      {text.slice(0, maxCharacters)}
      <button
        type="button"
        onClick={() => setWhole(true)}
        className="mx-2 rounded-sm px-1.5 font-sans text-12 text-brand-text underline underline-offset-2"
      >
        {t('log.showAll')}
      </button>
    </>
  );
}

function EndLine({ n, text }: { n: number | null; text: string }) {
  const { t } = useTranslation('executions');
  const { exitCode, error } = endOf(text);
  const words = exitCode === null ? t('log.end', { n: n ?? 0 }) : t('log.end.exit', { n: n ?? 0, exit: exitCode });
  return (
    <Portal>
      {words}
      {error === '' ? null : <span className="text-failed-text"> {error}</span>}
    </Portal>
  );
}

/** Reads the record of a call's end. Its values can be anything, because agents send them. */
function endOf(text: string): { exitCode: number | null; error: string } {
  const value: unknown = text === '' ? null : JSON.parse(text);
  const { exitCode, error } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  return { exitCode: typeof exitCode === 'number' ? exitCode : null, error: typeof error === 'string' ? error : '' };
}
