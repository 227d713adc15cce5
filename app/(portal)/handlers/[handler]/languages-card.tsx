'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Meter } from '#app/_ui/meter.tsx';
import { Select } from '#app/_ui/select.tsx';
import type { Handler } from './handler-data.ts';

type Newest = NonNullable<Handler['newest']>;
type Language = Newest['languages'][number];

export interface LanguagesCardProps {
  handler: Handler;
  newest: Newest;
  mayPublish: boolean;
}

const fewLanguages = 10;

/**
 * The completeness of each language of one version, initially the newest. The number of missing texts links to the
 * first missing text.
 */
export function LanguagesCard({ handler, newest, mayPublish }: LanguagesCardProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const [chosen, setChosen] = useState<string>();
  const [all, setAll] = useState(false);
  const version = chosen ?? newest.version;
  const coverage = useQuery({
    ...trpc.resources.coverage.queryOptions({ handler: handler.handler, version }),
    enabled: version !== newest.version,
    placeholderData: keepPreviousData,
  });
  const languages = version === newest.version ? newest.languages : (coverage.data?.languages ?? []);
  const total = Math.max(0, ...languages.map((language) => language.total));
  const shown = all || languages.length <= fewLanguages + 2 ? languages : languages.slice(0, fewLanguages);
  const editor = `/handlers/${handler.handler}/${version}`;
  return (
    <Card aria-busy={version !== newest.version && coverage.isFetching}>
      <CardHeader
        title={t('languages.title')}
        note={total === 0 ? undefined : t('languages.messages', { count: total })}
        actions={
          <>
            {handler.versions.length > 1 ? (
              <Select
                aria-label={t('languages.of')}
                value={version}
                onChange={(event) => setChosen(event.target.value)}
                options={handler.versions.map((one) => ({ value: one.version, label: one.version }))}
                className="w-24 [&>select]:h-(--control-sm) [&>select]:text-12"
              />
            ) : (
              <span className="text-12 text-ink-3">{version}</span>
            )}
            <Link href={`${editor}#messages`} className="rounded-xs text-12 text-brand-text hover:underline">
              {t(mayPublish ? 'languages.edit' : 'languages.open')}
            </Link>
          </>
        }
      />
      <CardBody>
        {languages.length === 0 ? (
          <p className="text-ink-2">{t('languages.none')}</p>
        ) : (
          <ul className="grid gap-1">
            {shown.map((language) => (
              <LanguageLine key={language.lang} language={language} editor={editor} />
            ))}
          </ul>
        )}
        {shown.length < languages.length ? (
          <Button size="sm" variant="ghost" className="mt-1 -ms-2" onClick={() => setAll(true)}>
            {t('languages.more', { count: languages.length - shown.length })}
          </Button>
        ) : null}
      </CardBody>
    </Card>
  );
}

function LanguageLine({ language: { lang, translated, total }, editor }: { language: Language; editor: string }) {
  const { t } = useTranslation('packages');
  const lacking = total - translated;
  const text = lacking === 0 ? t('languages.all') : t('languages.missing', { count: lacking });
  return (
    <li className="grid min-h-7 grid-cols-[minmax(3rem,5rem)_minmax(0,1fr)_auto] items-center gap-2">
      <span translate="no" className="mono truncate" title={lang}>
        {lang}
      </span>
      <Meter
        value={total === 0 ? 1 : translated / total}
        label={t('languages.coverage', { lang })}
        text={text}
        tone={lacking === 0 ? 'healthy' : 'brand'}
      />
      <span className="min-w-20 text-end text-12 text-ink-2 tabular-nums">
        {lacking === 0 ? (
          text
        ) : (
          <Link
            href={`${editor}?missing=${encodeURIComponent(lang)}#messages`}
            className="rounded-xs hover:text-brand-text hover:underline"
          >
            {text}
          </Link>
        )}
      </span>
    </li>
  );
}
