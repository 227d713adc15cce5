'use client';

import dynamic from 'next/dynamic';
import { useMemo, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { foldText } from './fold-text.ts';
import { jsonOf } from './json-of.ts';
import { MarkedText, MessageText } from './message-line.tsx';
import type { ReportedMessage } from './vm-data.ts';

/** Few messages need it. It is drawn on the server, so nothing moves when its script comes. */
const JsonMessage = dynamic(() => import('./json-message.tsx').then((module) => module.JsonMessage));

/** The text of a message with its line breaks, folded where it is long; JSON as a tree. `marked`: nothing beside it says where it comes from. */
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
