'use client';

import dynamic from 'next/dynamic';
import { useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { foldText } from './fold-text.ts';
import { jsonOf } from './json-of.ts';
import { MarkedText, MessageText } from './message-line.tsx';
import type { ReportedMessage } from './vm-data.ts';

/** Few messages need it. The server renders it, so nothing moves when its script is loaded. */
const JsonMessage = dynamic(() => import('./json-message.tsx').then((module) => module.JsonMessage));

/** The text of a message with line breaks, folded when long; JSON as a tree. `marked`: shows the source of the text. */
export function MessageBody({ said, marked = false }: { said: ReportedMessage; marked?: boolean }) {
  const value = useMemo(() => jsonOf(said.text), [said.text]);
  if (value !== undefined) return <JsonMessage value={value} said={said} />;
  return <FoldedText said={said} marked={marked} />;
}

function FoldedText({ said, marked }: { said: ReportedMessage; marked: boolean }) {
  const { t } = useTranslation('reports');
  const [all, setAll] = useState(false);
  const beginning = useMemo(() => foldText(said.text), [said.text]);
  const text = beginning === null || all ? said.text : `${beginning}…`;
  return (
    <>
      {marked ? <MarkedText said={said} text={text} /> : <MessageText said={said} text={text} />}
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
