'use client';

import dynamic from 'next/dynamic';
import { usePreferredLanguage } from '#app/_lib/i18n/client.tsx';
import { LanguageBadge } from '#app/_ui/tag.tsx';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import { negotiate } from '#protocol/negotiate.ts';
import type { ReportedMessage } from './vm-data.ts';

/** Loaded on demand, since few messages need it. The server renders it, so nothing moves when its script loads. */
const RecoveredMark = dynamic(() => import('./recovered-mark.tsx').then((module) => module.RecoveredMark));

const sources = { resource: 'resource', formatted: 'as-sent', id: 'bare-id', recovered: 'recovered' } as const;

/**
 * A message, or a part of its text, with line breaks. Sets `lang` for screen readers, empty if the language is unknown.
 */
export function MessageText({
  message,
  text = message.text,
}: {
  message: Pick<ReportedMessage, 'text' | 'lang'>;
  text?: string;
}) {
  return (
    <bdi lang={canonicalLanguage(message.lang) ?? ''} className="whitespace-pre-wrap">
      {isolateText(text.trimEnd())}
    </bdi>
  );
}

/** A message, with a mark if the portal found its id by its text and shows a text that differs from the agent's. */
export function MarkedText({ message, text = message.text }: { message: ReportedMessage; text?: string }) {
  const isOther = message.source === 'recovered' && message.original !== message.text;
  return (
    <>
      <MessageText message={message} text={text} />
      {isOther ? <RecoveredMark message={message} className="-my-1 ms-0.5" /> : null}
    </>
  );
}

/** The source of a message's text, in amber if the text is not in the reader's language. */
export function MessageSource({ message }: { message: ReportedMessage }) {
  const preferred = usePreferredLanguage();
  const known = message.lang !== 'und' && message.source !== 'id';
  const fallback = known && negotiate({ chosenLanguage: preferred })[0]?.serves(message.lang) === false;
  const badge = (
    <LanguageBadge language={known ? message.lang : null} source={sources[message.source]} fallback={fallback} />
  );
  if (message.source !== 'recovered') return badge;
  return (
    <span className="inline-flex items-baseline">
      {badge}
      <RecoveredMark message={message} className="-my-1.5 ms-px" />
    </span>
  );
}
