'use client';

import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Meter } from '#app/_ui/meter.tsx';
import type { Handler } from './handler-data.ts';

type Newest = NonNullable<Handler['newest']>;
type Language = Newest['languages'][number];

export interface LanguagesCardProps {
  handler: string;
  newest: Newest;
  mayPublish: boolean;
}

/** How complete the newest version's languages are, and which messages each lacks. */
export function LanguagesCard({ handler, newest, mayPublish }: LanguagesCardProps) {
  const { t } = useTranslation('packages');
  const total = Math.max(0, ...newest.languages.map((language) => language.total));
  return (
    <Card>
      <CardHeader
        title={t('languages.title')}
        note={`${newest.version}, ${t('languages.messages', { count: total })}`}
        actions={
          <Link
            href={`/handlers/${handler}/${newest.version}#messages`}
            className="rounded-xs text-12 text-brand-text hover:underline"
          >
            {t(mayPublish ? 'languages.edit' : 'languages.open')}
          </Link>
        }
      />
      <CardBody>
        {newest.languages.length === 0 ? (
          <p className="text-ink-2">{t('languages.none')}</p>
        ) : (
          <ul className="grid gap-1">
            {newest.languages.map((language) => (
              <LanguageLine key={language.lang} language={language} />
            ))}
          </ul>
        )}
      </CardBody>
    </Card>
  );
}

function LanguageLine({ language: { lang, translated, total, missing } }: { language: Language }) {
  const { t } = useTranslation('packages');
  const lacking = total - translated;
  const text = lacking === 0 ? t('languages.all') : t('languages.missing', { count: lacking });
  const line = (
    <span className="grid min-h-7 grid-cols-[4.5rem_minmax(0,1fr)_5.5rem] items-center gap-2">
      <span className="mono truncate">{lang}</span>
      <Meter
        value={total === 0 ? 1 : translated / total}
        label={t('languages.coverage', { lang })}
        text={text}
        tone={lacking === 0 ? 'healthy' : 'brand'}
      />
      <span className="text-end text-12 text-ink-2 tabular-nums">{text}</span>
    </span>
  );
  if (lacking === 0) return <li>{line}</li>;
  return (
    <li>
      <details>
        <summary className="cursor-pointer list-none rounded-sm hover:bg-hover [&::-webkit-details-marker]:hidden">
          {line}
        </summary>
        <p className="mono-11 py-1 wrap-anywhere text-ink-2">
          {missing.join(', ')}
          {lacking > missing.length ? ` ${t('languages.more', { count: lacking - missing.length })}` : null}
        </p>
      </details>
    </li>
  );
}
