'use client';

import { usePreferredLanguage } from '#app/_lib/i18n/client.tsx';
import { LanguageBadge } from '#app/_ui/tag.tsx';
import { isolateText } from '#protocol/direction.ts';
import { canonicalLanguage } from '#protocol/language.ts';
import { negotiate } from '#protocol/negotiate.ts';
import { RecoveredMark } from './recovered-mark.tsx';
import type { ReportedMessage } from './vm-data.ts';

const sources = { resource: 'resource', formatted: 'as-sent', id: 'bare-id', recovered: 'recovered' } as const;

/** A message or a part of its text, with line breaks and its language for screen readers; empty when unknown. */
export function MessageText({ said, text = said.text }: { said: ReportedMessage; text?: string }) {
  return (
    <bdi lang={canonicalLanguage(said.lang) ?? ''} className="whitespace-pre-wrap">
      {isolateText(text.trimEnd())}
    </bdi>
  );
}

/** A message that shows its source itself, unless the agent sent the text as it is. */
export function MarkedText({ said, text = said.text }: { said: ReportedMessage; text?: string }) {
  const isOther = said.source === 'recovered' && said.original !== said.text;
  return (
    <>
      <MessageText said={said} text={text} />
      {isOther ? <RecoveredMark said={said} className="-my-1 ms-0.5" /> : null}
    </>
  );
}

/** The source of a message's text; amber when it is not in the reader's language. */
export function MessageSource({ said }: { said: ReportedMessage }) {
  const preferred = usePreferredLanguage();
  const known = said.lang !== 'und' && said.source !== 'id';
  const fallback = known && negotiate({ chosenLanguage: preferred })[0]?.serves(said.lang) === false;
  const badge = <LanguageBadge language={known ? said.lang : null} source={sources[said.source]} fallback={fallback} />;
  if (said.source !== 'recovered') return badge;
  return (
    <span className="inline-flex items-baseline">
      {badge}
      <RecoveredMark said={said} className="-my-1.5 ms-px" />
    </span>
  );
}
