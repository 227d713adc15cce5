'use client';

import { ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { cn } from '#app/_ui/cn.ts';
import { useFormat } from '#app/_ui/format.ts';
import { Td, Tr } from '#app/_ui/table.tsx';
import { useMoment } from './time/use-event-words.ts';

export interface OpeningRowProps {
  /** Time in ISO 8601, shown in the first cell. This cell opens the row. */
  at: string;
  cells: ReactNode;
  columns: number;
  /** The details, rendered only while the row is open. */
  children: ReactNode;
}

/** A table row for an event. It opens to show the details. */
export function OpeningRow({ at, cells, columns, children }: OpeningRowProps) {
  const format = useFormat();
  const moment = useMoment();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Tr>
        <Td className="tabular-nums">
          <button
            type="button"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            className="-ms-1.5 inline-flex min-h-6 items-center gap-1 rounded-sm px-1.5 hover:text-brand-text"
          >
            <ChevronRight aria-hidden className={cn('size-3.5 text-ink-3 rtl:-scale-x-100', open && 'rotate-90')} />
            <time dateTime={at} title={format.dateTime(new Date(at), 'exact')}>
              {moment(Date.parse(at))}
            </time>
          </button>
        </Td>
        {cells}
      </Tr>
      {open ? (
        <tr>
          <td colSpan={columns} className="max-w-0 border-b border-line-subtle px-4 py-2">
            {children}
          </td>
        </tr>
      ) : null}
    </>
  );
}
