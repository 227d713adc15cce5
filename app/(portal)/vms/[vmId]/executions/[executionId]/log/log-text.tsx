'use client';

import { Fragment, type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { cn } from '#app/_ui/cn.ts';
import { cutSpans, type TextSpan, terminalSpans } from './terminal-spans.ts';
import type { LogColor, SpanStyle } from './terminal-style.ts';

/** Longer lines are truncated until the reader shows them in full. */
const maxCharacters = 4_096;

const colors: Readonly<Record<LogColor, string>> = {
  red: 'text-failed-text',
  green: 'text-healthy-text',
  yellow: 'text-warning-text',
  blue: 'text-progressing-text',
  magenta: 'text-unresponsive-text',
  cyan: 'text-[color-mix(in_oklab,var(--progressing-text),var(--healthy-text))]',
  grey: 'text-ink-3',
};

/** Text on a colored background has the default color, because some pairs of colors are not readable. */
const backgrounds: Readonly<Record<LogColor, string>> = {
  red: 'bg-failed-tint text-ink',
  green: 'bg-healthy-tint text-ink',
  yellow: 'bg-warning-tint text-ink',
  blue: 'bg-progressing-tint text-ink',
  magenta: 'bg-unresponsive-tint text-ink',
  cyan: 'bg-progressing-tint text-ink',
  grey: 'bg-press text-ink',
};

export interface LogTextProps {
  text: string;
  /** The text that the reader searches for. Matches are highlighted. */
  query: string;
}

/** A line of output with its colors. Creates only text nodes, because output can contain markup. */
export function LogText({ text, query }: LogTextProps) {
  const { t } = useTranslation('executions');
  const [isWhole, setWhole] = useState(false);
  const spans = useMemo(() => terminalSpans(text), [text]);
  const isCut = !isWhole && spans.reduce((sum, span) => sum + span.text.length, 0) > maxCharacters;
  return (
    <>
      {(isCut ? cutSpans(spans, maxCharacters) : spans).map((span, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a line keep their order
        <Span key={index} span={span} query={query} />
      ))}
      {isCut ? (
        <button
          type="button"
          onClick={() => setWhole(true)}
          className="mx-2 rounded-sm px-1.5 font-sans text-12 text-brand-text underline underline-offset-2"
        >
          {t('log.showAll')}
        </button>
      ) : null}
    </>
  );
}

function Span({ span: { text, style }, query }: { span: TextSpan; query: string }) {
  const look = classOf(style);
  const shown = query === '' ? text : withMarks(text, query);
  return look === '' ? shown : <span className={look}>{shown}</span>;
}

function classOf({ color, background, isBold, isItalic, isUnderlined }: SpanStyle): string {
  return cn(
    background !== null ? backgrounds[background] : color !== null && colors[color],
    isBold && 'font-semibold',
    isItalic && 'italic',
    isUnderlined && 'underline',
  );
}

/** Limits the highlighted matches of a line. */
const maxMarks = 100;

function withMarks(text: string, query: string): ReactNode {
  const [searched, wanted] = [text.toLowerCase(), query.toLowerCase()];
  const parts: ReactNode[] = [];
  let from = 0;
  for (let at = searched.indexOf(wanted); at >= 0 && parts.length < maxMarks; at = searched.indexOf(wanted, from)) {
    parts.push(
      <Fragment key={at}>
        {text.slice(from, at)}
        <mark className="rounded-xs bg-warning-tint text-ink shadow-[0_0_0_1px_var(--warning-solid)]">
          {text.slice(at, at + wanted.length)}
        </mark>
      </Fragment>,
    );
    from = at + wanted.length;
  }
  return parts.length === 0 ? text : [...parts, text.slice(from)];
}
