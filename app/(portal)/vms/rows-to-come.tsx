import { memo } from 'react';
import { cn } from '#app/_ui/cn.ts';
import { Table } from '#app/_ui/table.tsx';
import type { ColumnName } from './columns.ts';

export interface RowsToComeProps {
  columns: readonly ('name' | ColumnName)[];
  widths: (column: 'name' | ColumnName) => string | undefined;
  rowHeight: number;
  /** Whether rows have two lines. */
  isNarrow: boolean;
}

/** In pixels: the height of a placeholder bar, its top in a row with two lines, and its width in each column. */
const barHeight = 10;
const firstLine = 18;
const barWidths: Readonly<Record<'name' | ColumnName, number>> = {
  name: 112,
  health: 64,
  reason: 144,
  since: 56,
  extensions: 192,
  agent: 36,
  lastSeen: 64,
  tags: 104,
  goalState: 24,
  system: 72,
  clockSkew: 32,
  cloudService: 144,
  instanceId: 208,
};

/**
 * The background behind rows that are still loading. It keeps its position in the window while rows scroll past, so
 * that it is painted only once however long the list is.
 */
export const RowsToCome = memo(function RowsToCome({ columns, widths, rowHeight, isNarrow }: RowsToComeProps) {
  const top = isNarrow ? firstLine : (rowHeight - barHeight) / 2;
  const bar = `linear-gradient(transparent ${top}px, var(--press) 0 ${top + barHeight}px, transparent 0)`;
  return (
    <div aria-hidden className="absolute inset-x-0 top-8 bottom-0 max-sm:top-0">
      <div className="sticky top-[calc(var(--topbar)+32px)] h-[calc(100dvh-var(--topbar)-32px)] max-h-full will-change-transform max-sm:top-(--topbar)">
        <Table className="h-full table-fixed max-sm:block">
          <colgroup>
            {columns.map((column) => (
              <col key={column} style={{ width: widths(column) }} />
            ))}
          </colgroup>
          <tbody className="max-sm:block max-sm:h-full">
            <tr className="max-sm:block max-sm:h-full">
              {columns.map((column) => (
                <td
                  key={column}
                  className={cn(
                    'px-3 max-sm:block max-sm:h-full max-sm:not-first:hidden',
                    column === 'lastSeen' ? 'bg-right-top rtl:bg-left-top' : 'bg-left-top rtl:bg-right-top',
                  )}
                  style={{
                    backgroundImage: `linear-gradient(to top, var(--line-subtle) 1px, transparent 0), ${bar}`,
                    backgroundSize: `100% ${rowHeight}px, ${barWidths[column]}px ${rowHeight}px`,
                    backgroundRepeat: 'repeat-y',
                    backgroundOrigin: 'border-box, content-box',
                    backgroundClip: 'border-box, content-box',
                  }}
                />
              ))}
            </tr>
          </tbody>
        </Table>
      </div>
    </div>
  );
});
