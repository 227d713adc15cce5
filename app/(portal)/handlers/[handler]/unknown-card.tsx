'use client';

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { Inbox } from 'lucide-react';
import Link from 'next/link';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Num } from '#app/_ui/num.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { AppRouter } from '#server/trpc/root.ts';

type Unknown = inferRouterOutputs<AppRouter>['handlers']['unknownMessages']['items'][number];

export interface UnknownCardProps {
  handler: string;
  mayPublish: boolean;
}

const few = 5;

/**
 * Reported message ids without a text in English or, on request, in the reader's language. For readers who may publish,
 * each id links to the field for its text.
 */
export function UnknownCard({ handler, mayPublish }: UnknownCardProps) {
  const { t, i18n } = useTranslation('packages');
  const trpc = useTRPC();
  // Drops the region, so that the pseudo-language `en-XA` counts as English.
  const reader = i18n.language.split('-')[0] ?? 'en';
  const language = new Intl.DisplayNames(i18n.language, { type: 'language' }).of(reader) ?? reader;
  const [lang, setLang] = useState('en');
  const [all, setAll] = useState(false);
  const unknown = useQuery({
    ...trpc.handlers.unknownMessages.queryOptions({ handler, lang }),
    placeholderData: keepPreviousData,
  });
  const { items = [], total = 0 } = unknown.data ?? {};
  const shown = all ? items : items.slice(0, few);
  return (
    <Card aria-busy={unknown.isFetching}>
      <CardHeader
        title={
          <>
            <Inbox aria-hidden className="relative -top-px me-2 inline-block size-[15px] text-ink-3" />
            {t('unknown.title')}
          </>
        }
        note={total === 0 ? undefined : <Num value={total} />}
      />
      {reader === 'en' ? null : (
        <fieldset className="flex flex-wrap gap-x-4 border-b border-line-subtle px-4">
          <legend className="sr-only">{t('unknown.tabs')}</legend>
          {['en', reader].map((each) => (
            <button
              key={each}
              type="button"
              aria-pressed={lang === each}
              onClick={() => {
                setLang(each);
                setAll(false);
              }}
              className={cn(
                '-mb-px border-b-2 py-1.5 text-12',
                lang === each ? 'border-brand font-medium text-ink' : 'border-transparent text-ink-2 hover:text-ink',
              )}
            >
              {each === 'en' ? t('unknown.tab.en') : t('unknown.tab.other', { language })}
            </button>
          ))}
        </fieldset>
      )}
      {unknown.error && !unknown.data ? (
        <QueryError error={unknown.error} onRetry={unknown.refetch} at={new Date(unknown.errorUpdatedAt)} />
      ) : (
        <>
          <CardBody className={cn(reader === 'en' ? 'pt-1' : 'pt-2.5', items.length > 0 && 'pb-3')}>
            <p className="text-12 text-ink-2">
              {unknown.isPending
                ? t('unknown.loading')
                : items.length === 0
                  ? t('unknown.none')
                  : lang === 'en'
                    ? t('unknown.why')
                    : t('unknown.why.other', { language })}
            </p>
          </CardBody>
          <ul aria-label={t('unknown.title')}>
            {shown.map((message) => (
              <UnknownLine key={message.id} handler={handler} lang={lang} message={message} mayPublish={mayPublish} />
            ))}
          </ul>
          {shown.length < items.length ? (
            <div className="border-t border-line-subtle px-2 py-2">
              <Button size="sm" variant="ghost" onClick={() => setAll(true)}>
                {t('unknown.more', { count: items.length })}
              </Button>
            </div>
          ) : null}
        </>
      )}
    </Card>
  );
}

interface UnknownLineProps extends UnknownCardProps {
  lang: string;
  message: Unknown;
}

const fewVersions = 2;

function UnknownLine({ handler, lang, message, mayPublish }: UnknownLineProps) {
  const { t } = useTranslation('packages');
  const { id, params, versions, reports, lastSeenAt } = message;
  const asked = new URLSearchParams({ message: id, lang });
  for (const param of params) asked.append('param', param);
  const more = versions.length - fewVersions;
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 gap-y-0.5 border-t border-line-subtle px-4 py-2">
      <span translate="no" className="mono truncate font-medium" title={id}>
        {id}
      </span>
      {mayPublish ? (
        <Link
          href={`/handlers/${handler}/${versions[0]}?${asked}#messages`}
          aria-label={t('unknown.add.of', { id })}
          className="justify-self-end rounded-xs text-12 text-brand-text hover:underline"
        >
          {t('unknown.add')}
        </Link>
      ) : (
        <span />
      )}
      <span className="col-span-full text-11 text-ink-3" title={versions.join(', ')}>
        {t('unknown.reports', { count: reports })}, {versions.slice(0, fewVersions).join(', ')}
        {more > 0 ? ` +${more}` : null}, {t('unknown.last')} <RelativeTime value={new Date(lastSeenAt)} />
      </span>
      <span className="col-span-full mono-11 line-clamp-2 text-ink-3 wrap-anywhere" title={JSON.stringify(params)}>
        <span className="sr-only">{t('unknown.params')}: </span>
        <span translate="no">{JSON.stringify(params)}</span>
      </span>
    </li>
  );
}
