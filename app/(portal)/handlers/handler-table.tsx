'use client';

import type { inferRouterOutputs } from '@trpc/server';
import Link from 'next/link';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useRowKeys } from '#app/_lib/use-row-keys.ts';
import { vmsAddress } from '#app/_lib/vms-address.ts';
import { Button } from '#app/_ui/button.tsx';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { Num } from '#app/_ui/num.tsx';
import { RowLink } from '#app/_ui/row-link.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import type { AppRouter } from '#server/trpc/root.ts';
import { filterOfUse } from './vms-link.tsx';

type Row = inferRouterOutputs<AppRouter>['handlers']['list']['items'][number];

export interface HandlerTableProps {
  rows: readonly Row[];
  /** The search text that `rows` match, unless they are stale. */
  search: string;
  loading: boolean;
  /** Whether the rows belong to an earlier search. */
  stale: boolean;
  onMore: (() => void) | undefined;
  loadingMore: boolean;
}

const languagesShown = 4;

const hrefOf = ({ handler }: Row): string => `/handlers/${handler}`;

/** A table of handlers. `j` and `k` move the cursor; Enter opens the handler at the cursor. */
export function HandlerTable({ rows, search, loading, stale, onMore, loadingMore }: HandlerTableProps) {
  const { t } = useTranslation('packages');
  const { cursor, list } = useRowKeys<HTMLTableSectionElement>({
    hrefs: rows.map(hrefOf),
    labels: { next: t('keys.next'), previous: t('keys.previous'), open: t('keys.open') },
    search: stale ? undefined : search,
  });
  return (
    <Card aria-busy={loading || stale} className={cn(stale && 'opacity-60')}>
      <TableFrame label={t('title')}>
        <Table>
          <THead>
            <tr>
              <Th>{t('column.handler')}</Th>
              <Th className="max-md:hidden">{t('column.publisher')}</Th>
              <Th>{t('column.newest')}</Th>
              <Th className="w-full max-sm:hidden">{t('column.versions')}</Th>
              <Th className="max-md:hidden">{t('column.languages')}</Th>
              <Th end>{t('column.vms')}</Th>
              <Th end className="max-lg:hidden">
                {t('column.changed')}
              </Th>
            </tr>
          </THead>
          <TBody ref={list}>
            {rows.map((row) => (
              <HandlerRow key={row.handler} row={row} cursor={hrefOf(row) === cursor} />
            ))}
          </TBody>
        </Table>
        {loading ? (
          <SkeletonRows columns={['w-40', 'w-28', 'w-16', 'w-32']} rows={8} label={t('list.loading')} />
        ) : null}
      </TableFrame>
      {onMore ? (
        <div className="border-t border-line-subtle px-4 py-2">
          <Button size="sm" variant="ghost" busy={loadingMore} onClick={onMore}>
            {t('common:showMore')}
          </Button>
        </div>
      ) : null}
    </Card>
  );
}

function HandlerRow({ row, cursor }: { row: Row; cursor: boolean }) {
  const { t } = useTranslation('packages');
  const { draft, published, withdrawn } = row.versions;
  return (
    <Tr cursor={cursor} className="relative">
      <Td className="max-w-96 py-1.5 max-sm:max-w-44">
        <span className="flex items-center gap-2">
          <RowLink href={hrefOf(row)} translate="no" className="min-w-0">
            {row.type}
          </RowLink>
          {row.kind === 'formula' ? <Chip>{t('formula.mark')}</Chip> : null}
        </span>
        <span translate="no" className="mono-11 block truncate text-ink-3" title={row.handler}>
          {row.handler}
        </span>
      </Td>
      <Td translate="no" className="max-w-56 truncate max-md:hidden">
        {row.publisher}
      </Td>
      <Td className="tabular-nums">
        {row.latestVersion ?? <span className="text-ink-3">{t('list.nothingPublished')}</span>}
      </Td>
      <Td className="text-ink-2 max-sm:hidden">
        {[
          published > 0 ? t('list.published', { count: published }) : null,
          draft > 0 ? t('list.drafts', { count: draft }) : null,
          withdrawn > 0 ? t('list.withdrawn', { count: withdrawn }) : null,
        ]
          .filter((part) => part !== null)
          .join(', ')}
      </Td>
      <Td className="max-md:hidden">
        <span className="flex gap-1">
          {row.languages.slice(0, languagesShown).map((lang) => (
            <Chip translate="no" key={lang} className="mono-11">
              {lang}
            </Chip>
          ))}
          {row.languages.length > languagesShown ? (
            <Chip title={row.languages.slice(languagesShown).join(', ')}>+{row.languages.length - languagesShown}</Chip>
          ) : null}
        </span>
      </Td>
      <Td end>
        {row.vms > 0 ? (
          <Link
            href={vmsAddress(filterOfUse(row))}
            data-count={row.vms}
            className="relative z-10 inline-flex min-h-6 min-w-6 items-center justify-end rounded-xs hover:underline"
          >
            <Num value={row.vms} />
            <span className="sr-only"> {t('fact.vms', { count: row.vms })}</span>
          </Link>
        ) : (
          <span className="text-ink-3">{t('none')}</span>
        )}
      </Td>
      <Td end className="text-ink-2 max-lg:hidden">
        <RelativeTime value={new Date(row.changedAt)} />
      </Td>
    </Tr>
  );
}
