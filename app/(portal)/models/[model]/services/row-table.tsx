'use client';

import type { ReactNode } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { type RowKeys, useRowKeys } from '#app/_lib/use-row-keys.ts';
import { Table, TableFrame, TBody, Td, THead, Th } from '#app/_ui/table.tsx';

export interface RowTableProps<Row> {
  label: string;
  rows: readonly Row[];
  /** The page that a row opens. */
  hrefOf(row: Row): string;
  /** What the keys do, for the list of shortcuts. */
  keys: RowKeys['labels'];
  /** The heads of the columns. */
  heads: ReactNode;
  /** Whether the rows have menus. */
  hasMenus: boolean;
  children(row: Row, isCursor: boolean): ReactNode;
}

/** A table whose rows open pages and may have menus. `j` and `k` move the cursor; Enter opens a row. */
export function RowTable<Row>({ label, rows, hrefOf, keys, heads, hasMenus, children }: RowTableProps<Row>) {
  const { t } = useTranslation('services');
  const { cursor, list } = useRowKeys<HTMLTableSectionElement>({ hrefs: rows.map(hrefOf), labels: keys });
  return (
    <TableFrame label={label}>
      <Table>
        <THead>
          <tr>
            {heads}
            {hasMenus ? (
              <Th className="w-10">
                <span className="sr-only">{t('column.acts')}</span>
              </Th>
            ) : null}
          </tr>
        </THead>
        <TBody ref={list}>{rows.map((row) => children(row, hrefOf(row) === cursor))}</TBody>
      </Table>
    </TableFrame>
  );
}

/** The last cell of a row, with its menu; nothing for readers who may not act. */
export function MenuCell({ menu }: { menu: ReactNode }) {
  return menu === undefined ? null : (
    <Td end className="ps-0">
      <span className="relative z-1">{menu}</span>
    </Td>
  );
}
