'use client';

import * as Radix from 'radix-ui/toggle-group';
import type { ReactNode } from 'react';
import { cn } from './cn.ts';

export interface SegmentedProps<T extends string> {
  /** What is chosen, in words: the accessible name of the group. */
  label: string;
  value: T;
  onChange(value: T): void;
  options: readonly { value: T; label: ReactNode }[];
  className?: string;
}

/** One of two to four views of the same thing: "Words | JSON", "1 h | 24 h | 7 d". */
export function Segmented<T extends string>({ label, value, onChange, options, className }: SegmentedProps<T>) {
  return (
    <Radix.Root
      type="single"
      aria-label={label}
      value={value}
      onValueChange={(next) => {
        const chosen = options.find((option) => option.value === next);
        if (chosen !== undefined) onChange(chosen.value);
      }}
      className={cn('inline-flex gap-0.5 rounded-md bg-sunken p-0.5 shadow-hair-subtle', className)}
    >
      {options.map((option) => (
        <Radix.Item
          key={option.value}
          value={option.value}
          className="inline-flex h-[22px] items-center gap-[5px] rounded-sm px-2 text-12 whitespace-nowrap text-ink-2 hover:text-ink data-[state=on]:bg-surface data-[state=on]:font-medium data-[state=on]:text-ink data-[state=on]:shadow-control pointer-coarse:h-9"
        >
          {option.label}
        </Radix.Item>
      ))}
    </Radix.Root>
  );
}
