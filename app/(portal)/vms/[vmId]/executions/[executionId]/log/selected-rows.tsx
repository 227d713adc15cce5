'use client';

import { X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from '#app/_lib/i18n/client.tsx';
import { Button, IconButton } from '#app/_ui/button.tsx';
import { copyText } from '#app/_ui/copy-text.ts';
import { useFormat } from '#app/_ui/format.ts';
import { toast } from '#app/_ui/toast.tsx';
import { hashOfRows, type MarkedRows } from './marked-rows.ts';

/** Limits the rows that can be copied. The downloaded log contains all rows. */
export const maxCopied = 10_000;

export interface SelectedRowsProps {
  rows: MarkedRows;
  /** Where the rows begin and end, and the height of the whole list, in pixels. */
  place: { top: number; bottom: number; total: number };
  /** Returns the text of up to `maxCopied` rows. */
  read(rows: MarkedRows): Promise<string>;
  onClear(): void;
}

/** Height of the bar with its margin, in pixels. */
const barHeight = 48;

/**
 * The actions for the selected rows of a log, below the last row. While that row is below the visible rows, the bar
 * stays at their end. It leaves the line numbers free, because Shift and a click on one extends the selection.
 */
export function SelectedRows({ rows, place, read, onClear }: SelectedRowsProps) {
  const { t } = useTranslation('executions');
  const format = useFormat();
  const [isBusy, setBusy] = useState(false);
  const count = rows.to - rows.from + 1;
  const copy = async (text: () => Promise<string>, word: 'log.copied.text' | 'log.copied.link') => {
    setBusy(true);
    const isCopied = await text().then(copyText, () => false);
    setBusy(false);
    const copied = Math.min(count, maxCopied);
    toast(t(isCopied ? word : 'log.copied.no', { count: copied, n: format.number(copied) }));
  };
  const link = async () => {
    const { origin, pathname, search } = window.location;
    return origin + pathname + search + hashOfRows(rows);
  };
  return (
    <div
      className="pointer-events-none absolute inset-x-0 flex flex-col justify-end"
      style={{ top: place.top, height: Math.min(place.bottom + barHeight, place.total) - place.top }}
    >
      <div
        translate="yes"
        className="pointer-events-auto sticky bottom-2 me-4 flex w-max self-end items-center gap-1 rounded-lg bg-raised p-1 ps-3 font-sans shadow-float [--cut:var(--raised)]"
      >
        <span role="status" className="text-12 whitespace-nowrap text-ink-2 tabular-nums">
          {t('log.lines', { count, n: format.number(count) })}
        </span>
        <Button size="sm" variant="ghost" busy={isBusy} onClick={() => void copy(() => read(rows), 'log.copied.text')}>
          {t('log.copy.text')}
        </Button>
        <Button size="sm" variant="ghost" onClick={() => void copy(link, 'log.copied.link')}>
          {t('log.copy.link')}
        </Button>
        <IconButton size="sm" variant="ghost" label={t('log.copy.clear')} onClick={onClear}>
          <X aria-hidden />
        </IconButton>
      </div>
    </div>
  );
}
