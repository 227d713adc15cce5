'use client';

import { ArrowDown, ArrowUp } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useRouter } from 'next/navigation';
import { memo, useCallback, useMemo, useRef } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { QueryError } from '#app/_lib/query-error.tsx';
import { Card } from '#app/_ui/card.tsx';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Kbd } from '#app/_ui/kbd.tsx';
import { Table, TableFrame, TBody, THead, Th } from '#app/_ui/table.tsx';
import type { FleetSort } from '#server/domain/fleet/input.ts';
import { type ColumnName, type TableLook, widthsOf } from './columns.ts';
import { pieces } from './pieces.ts';
import type { FirstPage, FleetReading } from './reading.ts';
import { useBlocks } from './use-blocks.ts';
import { useRowCursor } from './use-row-cursor.ts';
import { useIsNarrow, useTableRoom } from './use-table-room.ts';
import { useWindowRows } from './use-window-rows.ts';
import { VmRow } from './vm-row.tsx';

/** Loaded after the page, because it is seen only while rows load. */
const RowsToCome = dynamic(() => import('./rows-to-come.tsx').then((module) => module.RowsToCome), { ssr: false });

/** Height of the table's header in pixels, as `Th` sets it. */
const headHeight = 32;
const rowHeights = { usual: 36, compact: 28, narrow: 68 };
/**
 * Heights in pixels of the bars that cover rows while the page scrolls: top bar and table header above, footer below.
 */
const over = 84;
const below = 40;
/** Maximum height of the list in pixels, because browsers position elements inexactly within taller elements. */
const tallest = 12_000_000;

export interface VmTableProps {
  reading: FleetReading;
  first: FirstPage;
  look: TableLook;
  /** Whether the rows belong to an earlier query. */
  stale: boolean;
  onSort(sort: FleetSort): void;
}

/**
 * A table of VMs. Only visible rows and a few around them are in the document. `j` and `k` move the cursor, Enter opens
 * a VM.
 */
export function VmTable({ reading, first, look, stale, onSort }: VmTableProps) {
  const { t } = useTranslation('vms');
  const router = useRouter();
  const frame = useRef<HTMLDivElement>(null);
  const isNarrow = useIsNarrow();
  const rowHeight = isNarrow ? rowHeights.narrow : look.compact ? rowHeights.compact : rowHeights.usual;
  const count = Math.min(reading.total, Math.floor(tallest / rowHeight));
  const rows = useWindowRows({ frame, head: isNarrow ? 0 : headHeight, count, rowHeight, over, below });
  const { visible } = rows;
  const blocks = useBlocks(reading, visible, first);
  const cursor = useRowCursor(reading, (index) => blocks.rowAt(index)?.id, rows.show, stale);
  const { table, room, width, shown } = useTableRoom(look.columns, isNarrow);
  const widths = useMemo(() => widthsOf(shown), [shown]);
  const isTooWide = !isNarrow && width !== undefined && width < widths.least;

  const columns = useMemo(() => ['name', ...shown] as const, [shown]);
  const open = useCallback((vmId: string) => router.push(`/vms/${vmId}`), [router]);
  const rowsAndGaps = pieces(rows.first, rows.last, count, (at) => blocks.rowAt(at) !== undefined).map(
    ({ at, gap }) => {
      const row = gap === undefined ? blocks.rowAt(at) : undefined;
      if (row === undefined)
        return <Gap key={gapKey(at, gap ?? 1, count)} height={(gap ?? 1) * rowHeight} columns={columns.length} />;
      return (
        <VmRow
          key={at}
          row={row}
          index={at}
          cursor={at === cursor}
          columns={shown}
          compact={look.compact}
          room={room}
          onOpen={open}
        />
      );
    },
  );
  return (
    <Card
      ref={frame}
      aria-busy={stale}
      className={cn('relative overflow-clip [overflow-anchor:none]', stale && 'opacity-60')}
    >
      {blocks.error === null ? null : (
        <div className="sticky top-(--topbar) z-2 border-b border-line bg-surface">
          <QueryError title={t('failed')} error={blocks.error} onRetry={blocks.retry} at={new Date()} />
        </div>
      )}
      <RowsToCome columns={columns} widths={widths.of} rowHeight={rowHeight} isNarrow={isNarrow} />
      <TableFrame
        label={t('title')}
        // Horizontal scrolling disables the sticky header, so scrolling is enabled only if the columns are wider than
        // the window.
        className={isTooWide ? undefined : 'overflow-visible'}
        tabIndex={isTooWide ? 0 : undefined}
      >
        <Table
          ref={table}
          aria-rowcount={reading.total + 1}
          className="table-fixed max-sm:block"
          style={isTooWide ? { width: widths.least } : undefined}
        >
          <colgroup>
            {columns.map((column) => (
              <col key={column} style={{ width: widths.of(column) }} />
            ))}
          </colgroup>
          <Head columns={columns} sort={reading.query.sort} sticks={!isTooWide} onSort={onSort} />
          <TBody className="max-sm:block">{rowsAndGaps}</TBody>
        </Table>
      </TableFrame>
      <Foot from={visible.from} to={visible.to} total={reading.total} count={count} />
    </Card>
  );
}

const sortable: Partial<Record<'name' | ColumnName, 'name' | 'health' | 'since'>> = {
  name: 'name',
  health: 'health',
  since: 'since',
};

interface HeadProps {
  columns: readonly ('name' | ColumnName)[];
  sort: FleetSort;
  /** Whether the header stays visible below the top bar while the page scrolls. */
  sticks: boolean;
  onSort(sort: FleetSort): void;
}

const Head = memo(function Head({ columns, sort, sticks, onSort }: HeadProps) {
  const { t } = useTranslation('vms');
  return (
    <THead className="max-sm:sr-only">
      <tr>
        {columns.map((column) => {
          const by = sortable[column];
          const direction = sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : 'none';
          const Arrow = direction === 'descending' ? ArrowDown : ArrowUp;
          return (
            <Th
              key={column}
              data-column={column}
              end={column === 'lastSeen'}
              aria-sort={by === undefined ? undefined : direction}
              className={sticks ? 'top-(--topbar)! border-b-0 shadow-[inset_0_-1px_var(--line)]' : 'static'}
            >
              {by === undefined ? (
                t(`column.${column}`)
              ) : (
                <button
                  type="button"
                  onClick={() => onSort(sort === by ? `-${by}` : by)}
                  className="-mx-1 inline-flex h-6 items-center gap-1 rounded-sm px-1 hover:text-ink aria-[current]:text-ink"
                >
                  {t(`column.${column}`)}
                  {direction === 'none' ? null : <Arrow aria-hidden className="size-3.5" />}
                </button>
              )}
            </Th>
          );
        })}
      </tr>
    </THead>
  );
});

/** Returns a React key for a gap. The first and the last gap keep their keys while their heights change. */
function gapKey(at: number, gap: number, count: number): string {
  if (at === 0) return 'before';
  return at + gap === count ? 'after' : `gap ${at}`;
}

/** Takes the place of rows that are not visible or have not loaded yet. */
function Gap({ height, columns }: { height: number; columns: number }) {
  return (
    <tr aria-hidden className="max-sm:block" style={{ height }}>
      <td colSpan={columns} />
    </tr>
  );
}

/** Shows which rows are visible, and the keys that move the cursor. */
function Foot({ from, to, total, count }: { from: number; to: number; total: number; count: number }) {
  const { t } = useTranslation('vms');
  const format = useFormat();
  const place = { from: format.number(from + 1), to: format.number(to + 1), total: format.number(total) };
  return (
    <div className="sticky bottom-0 z-1 flex h-9 items-center gap-4 border-t border-line bg-surface px-4 text-12 text-ink-3 tabular-nums max-sm:bottom-(--tabbar)">
      <span>{count < total ? t('place.cut', { ...place, count: format.number(count) }) : t('place', place)}</span>
      <span className="ms-auto flex items-center gap-3 max-md:hidden pointer-coarse:hidden">
        <span className="flex items-center gap-1">
          <Kbd>j</Kbd>
          <Kbd>k</Kbd>
          {t('keys.walk')}
        </span>
        <span className="flex items-center gap-1">
          <Kbd>?</Kbd>
          {t('keys.all')}
        </span>
      </span>
    </div>
  );
}
