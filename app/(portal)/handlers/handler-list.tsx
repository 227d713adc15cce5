'use client';

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import type { inferRouterOutputs } from '@trpc/server';
import { Upload } from 'lucide-react';
import Link from 'next/link';
import type { ReactNode } from 'react';
import { Trans, useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { useTRPC } from '#app/_lib/trpc.tsx';
import { useReader } from '#app/_shell/reader.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { CopyCommand } from '#app/_ui/copy.tsx';
import { EmptyState } from '#app/_ui/empty-state.tsx';
import { SearchInput } from '#app/_ui/input.tsx';
import { PageHeader } from '#app/_ui/page-header.tsx';
import { Segmented } from '#app/_ui/segmented.tsx';
import { TextLink } from '#app/_ui/text-link.tsx';
import { useSearchInAddress } from '#app/(portal)/vms/use-search-in-address.ts';
import type { AppRouter } from '#server/trpc/root.ts';
import { HandlerTable } from './handler-table.tsx';
import { type ShownKind, useKindInAddress } from './use-kind-in-address.ts';

export interface HandlerListProps {
  search: string;
  kind: ShownKind;
  first: inferRouterOutputs<AppRouter>['handlers']['list'];
  /** URL of the portal, for the commands. */
  url: string;
}

/** The catalog, with a search and a filter by kind that are stored in the URL. */
export function HandlerList({ search: initial, kind: initialKind, first, url }: HandlerListProps) {
  const { t } = useTranslation('packages');
  const trpc = useTRPC();
  const mayPublish = useReader().can('publisher');
  const [search, setSearch, settled] = useSearchInAddress(initial);
  const [kind, setKind] = useKindInAddress(initialKind);
  const handlers = useInfiniteQuery({
    ...trpc.handlers.list.infiniteQueryOptions(
      { q: settled, limit: 100, ...(kind !== 'all' && { kind }) },
      { getNextPageParam: (page) => page.nextCursor ?? undefined },
    ),
    ...(settled === initial && kind === initialKind && { initialData: { pages: [first], pageParams: [null] } }),
    placeholderData: keepPreviousData,
  });
  const rows = handlers.data?.pages.flatMap((page) => page.items) ?? [];
  const isMixed = rows.some((row) => row.kind === 'formula');
  const shown = handlers.hasNextPage
    ? isMixed
      ? 'list.shown.more.packages'
      : 'list.shown.more'
    : isMixed
      ? 'list.shown.packages'
      : 'list.shown';
  const isEmpty = handlers.isSuccess && rows.length === 0 && settled === '' && kind === 'all';
  const publish = <PublishLink />;

  return (
    <>
      <PageHeader title={t('title')} actions={mayPublish && !isEmpty ? publish : undefined} />
      {isEmpty ? null : (
        <ListTools search={search} onSearch={setSearch} kind={kind} onKind={setKind}>
          {rows.length > 0 ? t(shown, { count: rows.length }) : null}
        </ListTools>
      )}
      {handlers.error && !handlers.data ? (
        <Card>
          <QueryError
            title={t('list.failed')}
            error={handlers.error}
            onRetry={handlers.refetch}
            at={new Date(handlers.errorUpdatedAt)}
          />
        </Card>
      ) : rows.length > 0 || handlers.isPending ? (
        <HandlerTable
          rows={rows}
          search={settled}
          loading={handlers.isPending}
          stale={handlers.isPlaceholderData}
          onMore={handlers.hasNextPage ? () => void handlers.fetchNextPage() : undefined}
          loadingMore={handlers.isFetchingNextPage}
        />
      ) : isEmpty ? (
        <Card>
          <EmptyState title={t('list.empty.title')} actions={mayPublish ? publish : undefined}>
            <p>{t(mayPublish ? 'list.empty.why' : 'list.empty.viewer')}</p>
            {mayPublish ? <FirstCommands url={url} /> : null}
          </EmptyState>
        </Card>
      ) : (
        <NoMatch
          why={t(settled === '' && kind !== 'all' ? `list.none.${kind}` : 'list.noMatch.why')}
          onClear={() => {
            setSearch('');
            setKind('all');
          }}
        />
      )}
    </>
  );
}

interface ListToolsProps {
  search: string;
  onSearch(search: string): void;
  kind: ShownKind;
  onKind(kind: ShownKind): void;
  /** The number of rows. */
  children: ReactNode;
}

function ListTools({ search, onSearch, kind, onKind, children }: ListToolsProps) {
  const { t } = useTranslation('packages');
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchInput
        className="max-sm:w-full"
        label={t('list.search')}
        value={search}
        maxLength={200}
        onChange={(event) => onSearch(event.target.value)}
      />
      <Segmented
        label={t('list.kind')}
        value={kind}
        onChange={onKind}
        options={(['all', 'handler', 'formula'] as const).map((value) => ({ value, label: t(`list.kind.${value}`) }))}
      />
      <span className="ms-auto text-12 text-ink-3 tabular-nums" role="status">
        {children}
      </span>
    </div>
  );
}

function NoMatch({ why, onClear }: { why: string; onClear(): void }) {
  const { t } = useTranslation('packages');
  return (
    <Card>
      <EmptyState
        title={t('list.noMatch.title')}
        actions={<Button onClick={onClear}>{t('list.noMatch.clear')}</Button>}
      >
        <p>{why}</p>
      </EmptyState>
    </Card>
  );
}

function PublishLink() {
  const { t } = useTranslation('packages');
  return (
    <Button asChild variant="primary">
      <Link href="/publish">
        <Upload aria-hidden />
        {t('upload')}
      </Link>
    </Button>
  );
}

/**
 * Shown if there are no handlers: the commands that publish a handler from a build pipeline, and where to get the API
 * token that they need.
 */
function FirstCommands({ url }: { url: string }) {
  const { t } = useTranslation('packages');
  const settings = <TextLink href="/settings/tokens" className="whitespace-nowrap" />;
  const base = `${url}/api/v1/handlers/Acme.Lab.Probe/versions/1.0.0.0`;
  const token = '-H "Authorization: Bearer $ANNEX_TOKEN"';
  const json = '-H "Content-Type: application/json"';
  return (
    <>
      <CopyCommand
        command={`curl -X POST ${token} ${json} -d '{"namespace":"Acme.Lab","displayName":"Acme"}' ${url}/api/v1/publishers`}
      />
      <CopyCommand command={`curl -T probe.zip ${token} -H "Content-Type: application/zip" ${base}/package`} />
      <CopyCommand command={`curl -T en.json ${token} ${json} ${base}/resources/en`} />
      <CopyCommand command={`curl -X POST ${token} ${base}/publish`} />
      <p>
        <Trans text={t('list.empty.token')} tags={{ code: <code className="mono" />, tokens: settings }} />
      </p>
    </>
  );
}
