'use client';

import { useState } from 'react';
import { cn } from '#app/_ui/cn.ts';

export interface InlineNumberProps {
  label: string;
  value: number;
  onChange(value: number): void;
  /** The value of one unit in the input: 60 for seconds that are shown as minutes. */
  unit?: number;
  invalid?: boolean;
}

/** A number within a sentence. Text that is not a number is kept, and reported as NaN. */
export function InlineNumber({ label, value, onChange, unit = 1, invalid = false }: InlineNumberProps) {
  const [typed, setTyped] = useState(() => textOf(value / unit));
  const shown = Object.is(numberOf(typed) * unit, value) ? typed : textOf(value / unit);
  return (
    <input
      inputMode="decimal"
      autoComplete="off"
      aria-label={label}
      aria-invalid={invalid || Number.isNaN(value) || undefined}
      value={shown}
      onChange={(event) => {
        setTyped(event.target.value);
        onChange(Math.round(numberOf(event.target.value) * unit * 100) / 100);
      }}
      style={{ width: `calc(${Math.max(2, shown.length)}ch + 14px)` }}
      className={cn(
        'mx-0.5 inline-block h-[22px] rounded-sm bg-sunken px-1.5 text-center text-12 font-semibold text-ink tabular-nums shadow-hair outline-none focus-visible:shadow-focus disabled:w-auto! disabled:bg-transparent disabled:px-0 disabled:shadow-none disabled:[field-sizing:content] pointer-coarse:h-9',
        'aria-invalid:text-failed-text aria-invalid:shadow-[inset_0_0_0_1px_var(--failed-line)]',
      )}
    />
  );
}

const textOf = (value: number): string => (Number.isNaN(value) ? '' : String(Math.round(value * 100) / 100));

/** Reads a number with a comma or a point; NaN for any other text. */
function numberOf(text: string): number {
  const plain = text.trim().replace(',', '.');
  return plain === '' ? Number.NaN : Number(plain);
}
