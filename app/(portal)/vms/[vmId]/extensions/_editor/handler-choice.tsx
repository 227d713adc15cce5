'use client';

import { useQuery } from '@tanstack/react-query';
import { ChevronRight } from 'lucide-react';
import Link from 'next/link';
import { useDeferredValue, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { Card, CardBody } from '#app/_ui/card.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { SearchInput } from '#app/_ui/input.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import type { CatalogueRow } from '#server/domain/views/list-catalogue.ts';

interface HandlerPage {
  items: CatalogueRow[];
  nextCursor: string | null;
}

/** Lists the handlers with a published version, to choose one for a new extension. */
export function HandlerChoice({ vm, first }: { vm: { id: string; name: string }; first: HandlerPage }) {
  const { t } = useTranslation('editor');
  const trpc = useTRPC();
  const [typed, setTyped] = useState('');
  const q = useDeferredValue(typed.trim().slice(0, 200));
  const handlers = useQuery({
    ...trpc.handlers.list.queryOptions({ kind: 'handler', q, limit: 50 }),
    placeholderData: (previous) => previous ?? first,
  });
  const items = handlers.data?.items.filter(({ latestVersion }) => latestVersion !== null) ?? [];
  return (
    <>
      <PageHeader title={t('new.title')}>
        <p className="text-ink-2">{t('new.handlerWhy')}</p>
      </PageHeader>
      <Card className="max-w-3xl">
        <CardBody className="border-b border-line-subtle pt-4">
          <SearchInput
            label={t('new.search')}
            className="w-full"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </CardBody>
        {handlers.error && !handlers.data ? (
          <QueryError error={handlers.error} onRetry={handlers.refetch} at={new Date(handlers.errorUpdatedAt)} />
        ) : items.length === 0 && !handlers.isPlaceholderData ? (
          <EmptyState title={q === '' ? t('new.noneYet') : t('new.none', { q })}>
            <TextLink href="/publish">{t('new.publish')}</TextLink>
          </EmptyState>
        ) : (
          <ul aria-label={t('new.handlerTitle')}>
            {items.map(({ handler, publisher, latestVersion }) => (
              <li key={handler} className="border-t border-line-subtle first:border-t-0">
                <Link
                  href={`/vms/${vm.id}/add-extension?handler=${encodeURIComponent(handler)}`}
                  className="flex min-h-(--row) flex-wrap items-center gap-x-3 px-4 py-1.5 hover:bg-hover pointer-coarse:min-h-(--touch)"
                >
                  <span translate="no" className="mono min-w-0 font-medium wrap-anywhere">
                    {handler}
                  </span>
                  <span className="text-12 text-ink-3">{publisher}</span>
                  <span className="ms-auto text-12 text-ink-3 tabular-nums">
                    {t('new.latest', { version: latestVersion ?? '' })}
                  </span>
                  <ChevronRight aria-hidden className="size-3.5 text-ink-3 rtl:rotate-180" />
                </Link>
              </li>
            ))}
          </ul>
        )}
        {handlers.data?.nextCursor ? (
          <p className="border-t border-line-subtle px-4 py-2 text-12 text-ink-3">{t('new.more')}</p>
        ) : null}
      </Card>
    </>
  );
}
