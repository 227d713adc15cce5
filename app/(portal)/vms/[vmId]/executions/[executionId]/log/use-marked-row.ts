'use client';

import type { Virtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useState } from 'react';
import type { LogRow } from '#app/(portal)/executions/execution-data.ts';

export interface MarkedRowInput {
  virtual: Virtualizer<HTMLElement, Element>;
  rows: readonly LogRow[];
  onShow(row: number): void;
}

/** Marks a row of the level list with Shift and the arrow keys, and shows it in the whole log with Enter. */
export function useMarkedRow({ virtual, rows, onShow }: MarkedRowInput) {
  const [marked, setMarked] = useState<number | null>(null);
  const mark = (index: number) => {
    const next = Math.min(rows.length - 1, Math.max(0, index));
    setMarked(next);
    virtual.scrollToIndex(next, { align: 'auto' });
  };
  return {
    /** The position of the marked row in the list. */
    marked,
    press(event: KeyboardEvent<HTMLElement>) {
      const row = rows[marked ?? -1]?.row;
      if (event.key === 'Enter' && event.target === event.currentTarget && row !== undefined) onShow(row);
      const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
      if (by === 0 || !event.shiftKey) return;
      event.preventDefault();
      const top = virtual.getVirtualItemForOffset(virtual.scrollOffset ?? 0)?.index ?? 0;
      mark(marked === null ? top : marked + by);
    },
  };
}
