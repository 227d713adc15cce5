'use client';

import { type ReactNode, useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Button } from '#app/_ui/button.tsx';
import { Card, CardHeader } from '#app/_ui/card.tsx';
import { SkeletonRows } from '#app/_ui/skeleton.tsx';
import { Table, TableFrame, TBody, THead, Th } from '#app/_ui/table.tsx';
import { narrowTable } from './narrow-table.ts';

/** Number of rows that are shown at first. The other rows are shown on request. */
const firstRows = 200;

/** The parts of a query's result that the table uses. */
export interface ResourceQuery<Item> {
  data: { items: readonly Item[] } | undefined;
  error: unknown;
  errorUpdatedAt?: number;
  refetch(): unknown;
}

export interface Column {
  label: string;
  /** Whether the cell is aligned to the end of the line, as numbers and times are. */
  end?: boolean;
  className?: string;
}

export interface ResourceTableProps<Item> {
  title: string;
  note?: string;
  actions?: ReactNode;
  query: ResourceQuery<Item>;
  /** Title of an error that occurred while loading the items or in a row's action. */
  failedTitle: string;
  columns: readonly Column[];
  /**
   * Returns a `Tr` with one `Td` per column and a last `Td` for the row's buttons. On narrow pages, cells show their
   * `data-label`.
   */
  row(item: Item): ReactNode;
  /** Shown instead of the table if there are no items. */
  empty?: ReactNode;
  /** Dialogs of the table. */
  children?: ReactNode;
}

/**
 * A card with a table of members, tokens or invitations. Shows placeholders while the items load, an error if loading
 * failed, or `empty` if there are no items. Becomes a list on narrow pages.
 */
export function ResourceTable<Item>({ query, failedTitle, empty, children, ...table }: ResourceTableProps<Item>) {
  const { t } = useTranslation('common');
  const items = query.data?.items;
  return (
    <Card>
      {empty !== undefined && items?.length === 0 ? null : (
        <CardHeader title={table.title} note={table.note} actions={table.actions} />
      )}
      {query.error === null ? null : (
        <QueryError
          error={query.error}
          title={failedTitle}
          onRetry={() => query.refetch()}
          at={query.errorUpdatedAt === undefined ? undefined : new Date(query.errorUpdatedAt)}
        />
      )}
      {items === undefined ? (
        query.error === null && <SkeletonRows label={t('loading')} columns={table.columns.map(() => 'w-24')} />
      ) : empty !== undefined && items.length === 0 ? (
        empty
      ) : (
        <Rows {...table} items={items} />
      )}
      {children}
    </Card>
  );
}

interface RowsProps<Item> extends Pick<ResourceTableProps<Item>, 'title' | 'columns' | 'row'> {
  items: readonly Item[];
}

function Rows<Item>({ title, columns, row, items }: RowsProps<Item>) {
  const { t } = useTranslation('settings');
  const [all, setAll] = useState(false);
  const shown = all ? items : items.slice(0, firstRows);
  return (
    <>
      <TableFrame label={title}>
        <Table className={narrowTable}>
          <THead>
            <tr>
              {columns.map(({ label, ...props }) => (
                <Th key={label} {...props}>
                  {label}
                </Th>
              ))}
              <Th>
                <span className="sr-only">{t('acts')}</span>
              </Th>
            </tr>
          </THead>
          <TBody>{shown.map(row)}</TBody>
        </Table>
      </TableFrame>
      {shown.length < items.length ? (
        <div className="border-t border-line-subtle px-4 py-2">
          <Button size="sm" variant="ghost" onClick={() => setAll(true)}>
            {t('rows.more', { count: items.length })}
          </Button>
        </div>
      ) : null}
    </>
  );
}
