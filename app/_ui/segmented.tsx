'use client';

import { type ReactNode, useId } from 'react';
import { cn } from './cn.ts';

export interface SegmentedProps<T extends string> {
  /** The accessible name of the group. */
  label: string;
  value: T;
  onChange(value: T): void;
  options: readonly { value: T; label: ReactNode }[];
  className?: string;
}

/**
 * Switches between a few views of the same data, such as "Form | JSON" or "1 h | 24 h | 7 d". Uses native radio
 * buttons.
 */
export function Segmented<T extends string>({ label, value, onChange, options, className }: SegmentedProps<T>) {
  const name = useId();
  return (
    <div
      role="radiogroup"
      aria-label={label}
      className={cn('inline-flex gap-0.5 rounded-md bg-sunken p-0.5 shadow-hair-subtle', className)}
    >
      {options.map((option) => (
        <label
          key={option.value}
          className="relative inline-flex h-[22px] items-center gap-[5px] rounded-sm px-2 text-12 whitespace-nowrap text-ink-2 hover:text-ink has-checked:bg-surface has-checked:font-medium has-checked:text-ink has-checked:shadow-control has-focus-visible:shadow-focus pointer-coarse:h-9"
        >
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
            className="absolute inset-0 size-full cursor-pointer appearance-none rounded-sm opacity-0"
          />
          {option.label}
        </label>
      ))}
    </div>
  );
}
