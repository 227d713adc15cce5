'use client';

import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { useRowKeys } from '#app/_lib/use-row-keys.ts';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { RowLink } from '#app/_ui/row-link.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Table, TableFrame, TBody, Td, THead, Th, Tr } from '#app/_ui/table.tsx';
import { Chip } from '#app/_ui/tag.tsx';
import { RelativeTime } from '#app/_ui/time.tsx';
import { RunBar } from './run-bar.tsx';
import { type ListedRunbook, runbookHref } from './runbook-data.ts';
import { RunbookState } from './runbook-state.tsx';

export interface RunbookTableProps {
  rows: readonly ListedRunbook[];
  /** The search text that `rows` match, unless they are stale. */
  search: string;
  loading: boolean;
  /** Whether the rows belong to an earlier search. */
  stale: boolean;
}

/** Runbooks by title. `j` and `k` move the cursor; Enter opens a runbook. */
export function RunbookTable({ rows, search, loading, stale }: RunbookTableProps) {
  const { t } = useTranslation('runbooks');
  const { cursor, list } = useRowKeys<HTMLTableSectionElement>({
    hrefs: rows.map(({ name }) => runbookHref(name)),
    labels: { next: t('keys.next'), previous: t('keys.previous'), open: t('keys.open') },
    search: stale ? undefined : search,
  });
  return (
    <Card aria-busy={loading || stale} className={cn(stale && 'opacity-60')}>
      <TableFrame label={t('title')}>
        <Table>
          <THead>
            <tr>
              <Th className="w-full">{t('column.runbook')}</Th>
              <Th>{t('column.version')}</Th>
              <Th className="max-md:hidden">{t('column.state')}</Th>
              <Th className="max-sm:hidden">{t('column.runs')}</Th>
              <Th className="max-lg:hidden">{t('column.publishedBy')}</Th>
              <Th end className="max-lg:hidden">
                {t('column.lastRun')}
              </Th>
            </tr>
          </THead>
          <TBody ref={list}>
            {rows.map((row) => (
              <RunbookRow key={row.name} row={row} cursor={runbookHref(row.name) === cursor} />
            ))}
          </TBody>
        </Table>
        {loading ? (
          <SkeletonRows columns={['w-48', 'w-16', 'w-24', 'w-32']} rows={8} label={t('list.loading')} />
        ) : null}
      </TableFrame>
    </Card>
  );
}

function RunbookRow({ row, cursor }: { row: ListedRunbook; cursor: boolean }) {
  const { t } = useTranslation('runbooks');
  const { name, title, description, version, state, draft, publishedBy, runs } = row;
  return (
    <Tr cursor={cursor} className="relative">
      <Td className="max-w-60 py-1.5 max-sm:max-w-48">
        <RowLink href={runbookHref(name)} translate="no" className="block">
          {title}
        </RowLink>
        <span translate="no" className="block truncate text-12 text-ink-3" title={description || name}>
          {description || <span className="mono-11">{name}</span>}
        </span>
        <span className="mt-0.5 block text-12 md:hidden">
          <RunbookState state={state} />
        </span>
        <RunBar runs={runs} className="mt-1 flex sm:hidden" />
      </Td>
      <Td className="tabular-nums">
        <span translate="no">{version}</span>
        {draft === null ? null : (
          <Chip
            className="ms-2 max-w-28 max-sm:ms-0 max-sm:mt-1 max-sm:flex max-sm:w-fit"
            title={t('list.draft', { version: draft })}
          >
            <span className="truncate">{t('list.draft', { version: draft })}</span>
          </Chip>
        )}
      </Td>
      <Td className="max-md:hidden">
        <RunbookState state={state} />
      </Td>
      <Td className="max-sm:hidden">
        <RunBar runs={runs} />
      </Td>
      <Td translate="no" className="max-w-40 truncate text-ink-2 max-lg:hidden">
        {publishedBy}
      </Td>
      <Td end className="text-ink-2 max-lg:hidden">
        {runs.lastAt === null ? (
          <span className="text-ink-3">{t('never')}</span>
        ) : (
          <RelativeTime value={new Date(runs.lastAt)} />
        )}
      </Td>
    </Tr>
  );
}
