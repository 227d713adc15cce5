'use client';

import dynamic from 'next/dynamic';
import { useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { foldText } from './fold-text.ts';
import { jsonOf } from './json-of.ts';
import { MarkedText, MessageText } from './message-line.tsx';
import type { ReportedMessage } from './vm-data.ts';

/** Loaded on demand, since few messages need it. The server renders it, so nothing moves when its script loads. */
const JsonMessage = dynamic(() => import('./json-message.tsx').then((module) => module.JsonMessage));

/**
 * A message's text with its line breaks, folded if long, or its JSON as a tree. With `marked`, renders the text as
 * `MarkedText`.
 */
export function MessageBody({ message, marked = false }: { message: ReportedMessage; marked?: boolean }) {
  const value = useMemo(() => jsonOf(message.text), [message.text]);
  if (value !== undefined) return <JsonMessage value={value} message={message} />;
  return <FoldedText message={message} marked={marked} />;
}

function FoldedText({ message, marked }: { message: ReportedMessage; marked: boolean }) {
  const { t } = useTranslation('reports');
  const [all, setAll] = useState(false);
  const beginning = useMemo(() => foldText(message.text), [message.text]);
  const text = beginning === null || all ? message.text : `${beginning}…`;
  return (
    <>
      {marked ? <MarkedText message={message} text={text} /> : <MessageText message={message} text={text} />}
      {beginning === null ? null : (
        <button
          type="button"
          aria-expanded={all}
          onClick={() => setAll(!all)}
          className="-ms-1.5 mt-1 block min-h-6 rounded-sm px-1.5 text-12 text-brand-text hover:bg-hover"
        >
          {t(all ? 'card.text.less' : 'card.text.all')}
        </button>
      )}
    </>
  );
}
