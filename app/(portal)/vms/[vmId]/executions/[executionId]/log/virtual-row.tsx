'use client';

import type { VirtualItem, Virtualizer } from '@tanstack/react-virtual';
import type { ReactNode } from 'react';
import { rowHeight } from './row-height.ts';

export interface VirtualRowProps {
  virtual: Virtualizer<HTMLElement, Element>;
  item: VirtualItem;
  /** Whether long lines wrap. If they do, the row must be measured. */
  wraps: boolean;
  children: ReactNode;
}

/** Positions a row in a virtual list. */
export function VirtualRow({ virtual, item, wraps, children }: VirtualRowProps) {
  return (
    <div
      ref={wraps ? virtual.measureElement : undefined}
      data-index={item.index}
      className="absolute top-0 left-0 min-w-full"
      style={{
        transform: `translateY(${item.start}px)`,
        ...(wraps ? { width: '100%' } : { height: rowHeight }),
      }}
    >
      {children}
    </div>
  );
}
