'use client';

import { useQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardBody, CardHeader } from '#app/_ui/card.tsx';
import { Num } from '#app/_ui/num.tsx';
import { Status } from '#app/_ui/status.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { typeOf } from '../handlers/handler-name.ts';

type Drafts = inferRouterOutputs<AppRouter>['packages']['drafts'];

/** Lists drafts, so that publishers can continue with a draft instead of starting over. */
export function DraftsCard({ first }: { first: Drafts }) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const { items, total } = useQuery({ ...trpc.packages.drafts.queryOptions(), initialData: first }).data;
  if (items.length === 0) return null;
  return (
    <Card>
      <CardHeader title={t('drafts.title')} note={<Num value={total} />} />
      <CardBody className="pb-3">
        <p className="text-12 text-ink-2">{t('drafts.why')}</p>
      </CardBody>
      <ul aria-label={t('drafts.title')}>
        {items.map((draft) => (
          <DraftLine key={`${draft.handler} ${draft.version}`} draft={draft} />
        ))}
      </ul>
      {total > items.length ? (
        <p className="border-t border-line-subtle px-4 py-2 text-12 text-ink-3">
          {t('drafts.more', { count: total - items.length })}
        </p>
      ) : null}
    </Card>
  );
}

function DraftLine({ draft }: { draft: Drafts['items'][number] }) {
  const { t } = useTranslation('packages');
  const { handler, version, createdAt, createdBy, warnings } = draft;
  return (
    <li className="flex flex-wrap items-baseline gap-x-4 gap-y-0.5 border-t border-line-subtle px-4 py-2">
      <span className="min-w-0 flex-[1_1_16rem]">
        <span className="flex min-w-0 items-baseline gap-2">
          <span className="truncate font-medium">{typeOf(handler)}</span>
          <span className="tabular-nums">{version}</span>
        </span>
        <span translate="no" className="mono-11 block truncate text-ink-3" title={handler}>
          {handler}
        </span>
      </span>
      {warnings > 0 ? <Status status="warning">{t('findings.warnings', { count: warnings })}</Status> : null}
      <span className="text-12 text-ink-3">
        {t('drafts.uploaded')} <RelativeTime value={new Date(createdAt)} /> {t('fact.by', { who: createdBy })}
      </span>
      <Link
        href={`/handlers/${handler}/${version}`}
        aria-label={t('drafts.finish.of', { handler: typeOf(handler), version })}
        className="rounded-xs text-12 text-brand-text hover:underline"
      >
        {t('drafts.finish')}
      </Link>
    </li>
  );
}
